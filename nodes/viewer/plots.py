"""Live plots in the panel: chosen quantities over the last seconds of simulation time."""

from typing import Any

import numpy as np
import viser
from viser import uplot

from grouser.nodes.viewer.signals import QUANTITIES, Signals

NOTHING = "nothing"
PLOTS = 3
WINDOW = 20.0  # [s] of simulation time
INTERVAL = 0.05  # between two samples [s of simulation time]
PICTURES = 8  # between two changes of the plots
SERIES = 10  # curves in a plot
_HEIGHT = 220  # [pixels]
_COLOURS = (
    "#1f5fb4",
    "#d1481e",
    "#2c8a3d",
    "#8a2fa3",
    "#b08400",
    "#14919b",
    "#c2185b",
    "#5d4037",
    "#607d8b",
    "#7cb342",
)


class Plot:
    """One plot, empty until a quantity is chosen.

    Args:
        gui: the panel.
        number: of the plot, from 1.
    """

    def __init__(self, gui: viser.GuiApi, number: int) -> None:
        self._gui = gui
        self._folder: Any = gui.add_folder(f"plot {number}")
        with self._folder:
            self.choice: Any = gui.add_dropdown("shows", (NOTHING, *QUANTITIES))
        self._chosen = NOTHING
        self._names: tuple[str, ...] = ()
        self._handle: Any = None
        self._count = round(WINDOW / INTERVAL)
        self._samples = np.zeros((0, 1 + SERIES))

    @property
    def samples(self) -> np.ndarray:
        """Times [s] and the values of each curve, shape (samples, 1 + curves)."""
        return self._samples[:, : 1 + len(self._names)]

    def sample(self, time: float, signals: Signals) -> None:
        """Takes the values of a time [s]; a clock that was set back, or other curves, begin anew."""
        if self._chosen != self.choice.value:
            self._chosen = self.choice.value
            self._begin(())
        if self._chosen == NOTHING:
            return
        values = signals.series(QUANTITIES[self._chosen])
        names = tuple(values)[:SERIES]
        if names != self._names or (len(self._samples) and time < self._samples[-1, 0]):
            self._begin(names)
        if names and (not len(self._samples) or time >= self._samples[-1, 0] + INTERVAL):
            row = np.array([[time, *(values[name] for name in names), *[np.nan] * (SERIES - len(names))]])
            self._samples = np.vstack([self._samples[-self._count + 1 :], row])

    def draw(self) -> None:
        """Shows what was sampled."""
        if len(self._samples) < 2:
            return
        columns = tuple(np.ascontiguousarray(column) for column in self.samples.T)
        if self._handle is not None:
            self._handle.data = columns
            return
        curves = [
            uplot.Series(label=name, stroke=colour, width=1.5)
            for name, colour in zip(self._names, _COLOURS, strict=False)
        ]
        unit = QUANTITIES[self._chosen].unit
        with self._folder:
            self._handle = self._gui.add_uplot(
                columns,
                (uplot.Series(label="time [s]"), *curves),
                title=f"{self._chosen} [{unit}]",
                scales={"x": uplot.Scale(time=False)},
                axes=(uplot.Axis(label="time [s]"), uplot.Axis()),
                height=_HEIGHT,
            )

    def _begin(self, names: tuple[str, ...]) -> None:
        self._names = names
        self._samples = np.zeros((0, 1 + SERIES))
        if self._handle is not None:
            self._handle.remove()
            self._handle = None


class Plots:
    """The plots of the panel.

    Args:
        gui: the panel.
    """

    def __init__(self, gui: viser.GuiApi) -> None:
        self.plots = tuple(Plot(gui, number) for number in range(1, PLOTS + 1))
        self._picture = 0

    def draw(self, time: float, signals: Signals) -> None:
        """Samples and shows the chosen quantities.

        Args:
            time: of the simulation [s].
            signals: the newest values.
        """
        self._picture += 1
        for plot in self.plots:
            plot.sample(time, signals)
            if self._picture % PICTURES == 0:
                plot.draw()
