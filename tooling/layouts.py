"""Writes the layouts of RViz and Foxglove for every machine that comes with grouser.

python tooling/layouts.py
"""

from pathlib import Path

from grouser.catalogue import machine_files
from grouser.layouts.foxglove import foxglove_layout
from grouser.layouts.rviz import rviz_config
from grouser.physics.description import load_machine

_CONFIG = Path(__file__).parents[1] / "config"


def main() -> None:
    """Writes config/rviz and config/foxglove."""
    for folder, ending, written in (("rviz", "rviz", rviz_config), ("foxglove", "json", foxglove_layout)):
        (_CONFIG / folder).mkdir(exist_ok=True)
        for file in machine_files():
            name = file.name.partition(".")[0]
            (_CONFIG / folder / f"{name}.{ending}").write_text(written(load_machine(file)), encoding="utf-8")


if __name__ == "__main__":
    main()
