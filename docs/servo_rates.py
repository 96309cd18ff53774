"""Makes the picture and the table of docs/servo_fin.md: critical rates over friction, with and without torque feedback.

python docs/servo_rates.py
"""

from pathlib import Path

from matplotlib.figure import Figure

from grouser import experiments

_VARIANTS = {
    "gain 111 000, torque feedback": {},
    "gain 111 000": {"torque_feedback": 0.0},
    "gain 37 000": {"gain": 37000.0, "torque_feedback": 0.0},
}
_FRICTIONS = (5.0, 10.0, 15.0, 30.0, 60.0, 120.0)
_EXCESSES = (0.05, 0.15, 0.45)
_STEP = 1e-5


def main() -> None:
    """Draws, and prints the table."""
    figure = Figure(figsize=(8.0, 3.2), layout="constrained")
    panels = figure.subplots(1, len(_EXCESSES), sharex=True, sharey=True)
    print("| static excess | kinetic friction N m | " + " | ".join(_VARIANTS) + " |")
    print("|---|---|" + "---|" * len(_VARIANTS))
    for panel, excess in zip(panels, _EXCESSES, strict=True):
        rates = {
            name: [
                experiments.run(
                    "servo_stick_slip",
                    kinetic_friction=friction,
                    static_excess=excess,
                    find_critical=True,
                    step=_STEP,
                    **variant,
                )["critical_rate"]
                for friction in _FRICTIONS
            ]
            for name, variant in _VARIANTS.items()
        }
        for k, friction in enumerate(_FRICTIONS):
            row = " | ".join(f"{1e3 * found[k]:.3f}" for found in rates.values())
            print(f"| {excess:g} | {friction:g} | {row} |", flush=True)
        for name, found in rates.items():
            panel.loglog(_FRICTIONS, found, ".-", label=name)
        panel.set_title(f"static excess {excess:g}")
        panel.set_xlabel("kinetic friction [N m]")
        panel.grid(alpha=0.3, which="both")
    panels[0].set_ylabel("critical rate [rad/s]")
    panels[0].legend(fontsize="small")
    figure.savefig(Path(__file__).parent / "images" / "servo_rates.png", dpi=80)


if __name__ == "__main__":
    main()
