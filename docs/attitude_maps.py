"""Makes the pictures and tables of attitude.md: what integrators of rigid bodies keep, and what they lose.

    .venv/bin/python docs/attitude_maps.py

Takes half a minute; prints the tables.
"""

import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from grouser import ConvergenceError, RigidBody, experiments, simulate_body

IMAGES = Path(__file__).parent / "images"
PENDULUM = RigidBody(1.0, [0.13, 0.28, 0.17], [0.0, 0.0, 0.3], [0.0, 0.0, 9.81])
RATE = np.array([4.14, 4.14, 4.14])
COLOURS = {
    "lie_group_variational": "tab:blue",
    "quaternion_variational": "tab:green",
    "rk4": "tab:orange",
    "rk4_uncoupled": "tab:red",
}
# The two variational methods lie one upon the other.
MARKERS = {"lie_group_variational": "o-", "quaternion_variational": "s:", "rk4": "o-", "rk4_uncoupled": "o-"}


def move(method, step, duration, rate=RATE, every=1):
    """Motion of the 3D pendulum."""
    return simulate_body(PENDULUM, np.eye(3), rate, step, round(duration / step), method, every=every)


def error_over_time():
    """Largest error of the energy so far, and the rotation's at the end, at two steps."""
    figure, panels = plt.subplots(1, 2, figsize=(9.0, 3.4))
    for panel, step, duration in zip(panels, (0.1, 0.05), (500.0, 1000.0), strict=True):
        for method in ("lie_group_variational", "rk4"):
            motion = move(method, step, duration)
            error = np.abs(motion.energy - motion.energy[0])
            panel.plot(motion.time, error, COLOURS[method], linewidth=0.4, alpha=0.5)
            panel.plot(motion.time, np.maximum.accumulate(error), COLOURS[method], label=method)
        panel.set_title(f"step {step:g} s", fontsize=10)
        panel.set_xlabel("time [s]")
        panel.set_ylabel("error of the energy [J]")
        panel.grid(alpha=0.3)
        panel.legend(fontsize=8, loc="lower right")
    save(figure, "attitude_energy.png")
    random = np.random.default_rng(1)
    for step, duration in ((0.1, 2000.0), (0.05, 1000.0), (0.01, 80_000.0)):
        worse, mean = [], []
        for _ in range(6):
            rate = RATE + 1e-9 * random.normal(size=3)
            every = round(max(1.0, 0.1 / step))
            ours, theirs = (move(method, step, duration, rate, every) for method in ("lie_group_variational", "rk4"))
            error = np.abs(theirs.energy - theirs.energy[0])
            beyond = error > ours.max_energy_error
            worse.append(theirs.time[beyond.argmax()] if beyond.any() else np.inf)
            mean.append(theirs.time[(error > np.abs(ours.energy - ours.energy[0]).mean()).argmax()])
        print(f"step {step:g}: RK4 beyond the largest error since {min(worse):.0f} to {max(worse):.0f} s,", end=" ")
        print(f"beyond the mean error since {min(mean):.0f} to {max(mean):.0f} s")


def errors_over_step():
    """Errors of energy and rotation over 100 s."""
    steps = (0.1, 0.05, 0.02, 0.01, 0.005, 0.0025)
    figure, panels = plt.subplots(1, 2, figsize=(9.0, 3.6))
    for method, colour in COLOURS.items():
        motions = [move(method, step, 100.0) for step in steps]
        for step, motion in zip(steps, motions, strict=True):
            slope = np.polyfit(motion.time, motion.energy, 1)[0]
            print(
                f"{method:24}{step:8g}{motion.max_energy_error:12.3g}{slope:12.2g}"
                f"{motion.max_constraint_error:12.2g}{motion.max_vertical_momentum_error:12.2g}"
            )
        style = {"color": colour, "markersize": 7 if MARKERS[method] == "o-" else 3}
        energies = [motion.max_energy_error for motion in motions]
        panels[0].loglog(steps, energies, MARKERS[method], label=method, **style)
        panels[1].loglog(steps, [motion.max_constraint_error for motion in motions], MARKERS[method], **style)
    for panel, label in zip(panels, ("largest error of the energy [J]", "largest |RᵀR - 1|"), strict=True):
        panel.set_xlabel("step [s]")
        panel.set_ylabel(label)
        panel.grid(alpha=0.3, which="both")
    panels[0].legend(fontsize=8)
    save(figure, "attitude_steps.png")


def heavy_top():
    """Period of the nutation over step, and the energy in Euler angles over time."""
    exact = experiments.run("heavy_top", method="rk4", step=5e-5)["nutation_period"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.6))
    steps = (0.01, 0.005, 0.002, 0.001, 5e-4, 2e-4)
    for method in ("lie_group_variational", "quaternion_variational", "rk4"):
        points = []
        for step in steps:
            try:
                result = experiments.run("heavy_top", method=method, step=step)
            except ConvergenceError:
                continue
            points.append((step, result["nutation_period"] / exact - 1.0))
            print(f"{method:24}{step:8g}  period {points[-1][1]:+.3%}  energy {result['max_energy_error']:.2g}")
        size = 7 if MARKERS[method] == "o-" else 3
        left.loglog(*np.abs(points).T, MARKERS[method], color=COLOURS[method], markersize=size, label=method)
    left.set_xlabel("step [s]")
    left.set_ylabel("error of the nutation's period")
    left.legend(fontsize=8)
    for step, colour in ((1e-3, "tab:purple"), (1e-4, "tab:brown")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = experiments.run("heavy_top", method="euler_angles", step=step, duration=5.0)
        error = np.abs(result["energy"] - result["energy"][0])
        right.semilogy(result["time"][1:], error[1:], color=colour, label=f"Euler angles, step {step:g} s")
        print(f"euler_angles {step:g}: energy {result['energy'][-1]:.5g} J, singular at {result['singular_time']}")
        if step == 1e-3:
            time = np.array([2.0, 5.0])
            growth = 2.0 * 0.5 * step * ((1.0 - 0.0008 / 0.002) * 100.0) ** 2
            right.semilogy(time, 5.0 * np.exp(growth * (time - 2.0)), "k--", label=f"growth with {growth:.2g}/s")
            right.axvline(result["singular_time"], color="grey", linewidth=0.8, label="its singularity")
    right.set_xlabel("time [s]")
    right.set_ylabel("error of the energy [J]")
    right.set_ylim(1e-4, 1e7)
    right.legend(fontsize=8, loc="upper left")
    for panel in (left, right):
        panel.grid(alpha=0.3, which="both")
    save(figure, "attitude_top.png")


def save(figure, file):
    """Writes a picture."""
    figure.tight_layout()
    figure.savefig(IMAGES / file, dpi=80, pil_kwargs={"optimize": True})
    plt.close(figure)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    error_over_time()
    errors_over_step()
    heavy_top()
