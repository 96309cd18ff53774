"""Makes the pictures and tables of friction_theory.md: which oscillations there are, by damping and static excess.

    .venv/bin/python docs/friction_maps.py

Takes some minutes; prints the tables.
"""

import math
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from grouser import experiments

IMAGES = Path(__file__).parent / "images"
KINETIC, STEP = 10.0, 0.005
# Since the first slip under a ramp: six cycles of the longest oscillations, 60, and their beginning.
DURATION = 700.0
DAMPING, EXCESS = np.linspace(0.01, 0.61, 41), np.linspace(0.0125, 1.0125, 41)
# Between both natural periods of two equal masses.
MIDDLE_PERIOD = 2.0 * math.pi
HARMONIC = {"load": "harmonic", "load_frequency": 0.01, "duration": 629.0}

RAMP_KINDS = (
    "no oscillation",
    "stick-slip (of two masses: one, slow)",
    "one mass, fast",
    "both, 4 events",
    "both, 6 events",
    "both, 8 or more",
    "not periodic",
)
HARMONIC_KINDS = (
    "slides, rests at the turns",
    "oscillates, rests at the turns (mixed)",
    "stick-slip on a part (mixed)",
    "stick-slip throughout",
)


def ramp_kind(masses, **parameters):
    """Place in RAMP_KINDS of the motion under a ramp."""
    name = "stick_slip_one_mass" if masses == 1 else "stick_slip_two_mass"
    result = experiments.run(name, duration=(1.0 + parameters["static_excess"]) * KINETIC + DURATION, **parameters)
    if result["regime"] != "stick_slip":
        return 0
    if masses == 1:
        return 1
    if result["period"] is None:
        return 6
    times = result["event_times"]
    # without that one that is the last one's, a period before
    since = times[-1] - 0.999 * result["period"]
    last = [event for time, event in zip(times, result["events"], strict=True) if time > since]
    if len({mass for mass, what in last if what == "stop"}) == 1:
        return 1 if result["period"] > MIDDLE_PERIOD else 2
    return 3 if len(last) < 6 else 4 if len(last) < 8 else 5


def harmonic_kind(masses, **parameters):
    """Place in HARMONIC_KINDS of the motion under a harmonic load."""
    if masses == 1:
        result = experiments.run("stick_slip_one_mass", **HARMONIC, **parameters)
        stops = result["stops_per_half_period"]
    else:
        result = experiments.run("stick_slip_two_mass", **HARMONIC, **parameters)
        half = math.pi / HARMONIC["load_frequency"]
        what = [
            event for time, event in zip(result["event_times"], result["events"], strict=True) if half < time < 2 * half
        ]
        stops = max(sum(event == [mass, "stop"] for event in what) for mass in (1, 2))
    if result["regime"] == "stick_slip":
        return 3
    if result["regime"] == "mixed":
        return 2 if stops > 1 else 1
    return 0


def picture(file, kind, kinds, colours):
    """Draws the three maps side by side."""
    figure, axes = plt.subplots(1, 3, figsize=(10.0, 3.9), sharey=True)
    panels = ((1, {}, "one mass"), (2, {"load_on": 1}, "load on mass 1"), (2, {"load_on": 2}, "load on mass 2"))
    seen = set()
    for panel, (masses, load, title) in zip(axes, panels, strict=True):
        table = [
            [
                kind(masses, damping_ratio=damping, static_excess=excess, kinetic_friction=KINETIC, step=STEP, **load)
                for damping in DAMPING
            ]
            for excess in EXCESS
        ]
        seen |= set(np.ravel(table))
        print_table(title, np.array(table), kinds)
        panel.pcolormesh(
            DAMPING, EXCESS, table, cmap=ListedColormap(colours), vmin=-0.5, vmax=len(kinds) - 0.5, shading="nearest"
        )
        panel.set_title(title, fontsize=10)
        panel.set_xlabel("damping ratio ζ")
    axes[0].set_ylabel(f"static excess f₁ (R = {KINETIC:g})")
    figure.legend(
        handles=[Patch(color=colours[k], label=kinds[k]) for k in sorted(seen)], ncol=4, fontsize=8, loc="lower center"
    )
    figure.tight_layout(rect=(0.0, 0.12, 1.0, 1.0))
    figure.savefig(IMAGES / file, dpi=80, pil_kwargs={"optimize": True})
    plt.close(figure)


def print_table(title, table, kinds):
    """Prints of each kind the smallest and the largest static excess, for some dampings."""
    print(f"\n{title}: static excess, from - to")
    for column in range(0, len(DAMPING), 8):
        ranges = [
            f"{kinds[k]}: {EXCESS[table[:, column] == k].min():.3f} - {EXCESS[table[:, column] == k].max():.3f}"
            for k in sorted(set(table[:, column]))
        ]
        print(f"  zeta = {DAMPING[column]:.3f}: " + "; ".join(ranges))


def suppressing_damping():
    """Prints the damping above which nothing oscillates under a ramp, for some friction differences f1 R."""
    print("\nf1 R, damping that suppresses all: one mass, load on mass 1, load on mass 2")
    for difference in (1.0, 2.0, 4.0, 8.0, 16.0, 64.0, 256.0):
        found = []
        for masses, load in ((1, {}), (2, {"load_on": 1}), (2, {"load_on": 2})):
            low, high = 0.0, 3.0
            while high - low > 0.002:
                middle = 0.5 * (low + high)
                excess = difference / KINETIC
                kind = ramp_kind(
                    masses, damping_ratio=middle, static_excess=excess, kinetic_friction=KINETIC, step=STEP, **load
                )
                low, high = (middle, high) if kind else (low, middle)
            found.append(f"{0.5 * (low + high):.3f}")
        print(f"  {difference:g}: " + ", ".join(found))


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    picture(
        *("friction_ramp.png", ramp_kind, RAMP_KINDS),
        ["#eeeeee", "#9ecae1", "#3182bd", "#fdd0a2", "#fd8d3c", "#a63603", "#555555"],
    )
    picture(*("friction_harmonic.png", harmonic_kind, HARMONIC_KINDS), ["#eeeeee", "#c7e9c0", "#74c476", "#006d2c"])
    suppressing_damping()
