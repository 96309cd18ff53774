"""Makes the picture of blocks.md: a tool breaks a wall.

    .venv/bin/python docs/blocks_wall.py

Takes half a minute.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from grouser.physics.blocks.assembly import Assembly
from grouser.physics.blocks.building import Block
from grouser.physics.blocks.polyhedron import make_box
from grouser.physics.blocks.walls import make_wall
from grouser.physics.description.data.blocks import BlockMaterial, Interface

FOLDER = Path(__file__).parent / "images"
# Speed of the tool [m/s], and how long it has it [s].
STAGES = ((0.0, 0.0), (1.0, 0.3), (-1.0, 1.5))


def main() -> None:
    """Moves the tool through the wall and back, and draws each stage."""
    floor = Block("floor", make_box("floor", (-3, -3, -0.3), (3, 3, 0)), driven=True)
    tool = Block("tool", make_box("tool", (0.35, -0.3, 0.3), (0.65, -0.1, 0.45)), driven=True)
    bricks = make_wall((5, 1, 6), (0.2, 0.1, 0.1), (0.0, -0.05, 0.0), staggered=True)
    mortar = Interface(1e8, 1e8, friction=0.6, cohesion=2e4, tensile_strength=1e4)
    wall = Assembly(
        [floor, tool, *bricks], BlockMaterial(1e8, 0.2, 2000.0), mortar, stiffness_damping=1e-4, mass_damping=1.0
    )
    wall.relax()
    figure = plt.figure(figsize=(12.0, 4.0), layout="constrained")
    for number, (speed, time) in enumerate(STAGES):
        wall.drive("tool", (0.0, speed, 0.0))
        wall.step(round(time / wall.checked_step()))
        panel = figure.add_subplot(1, len(STAGES), number + 1, projection="3d")
        draw(panel, wall, [tool, *bricks])
        panel.set_title(f"{wall.state.time[0]:.2f} s, {100 * wall.broken():.0f} % of the mortar broken")
    FOLDER.mkdir(exist_ok=True)
    figure.savefig(FOLDER / "blocks_wall.png", dpi=100)


def draw(panel, wall: Assembly, blocks: list[Block]) -> None:
    """Draws the faces of blocks where they are."""
    for block in blocks:
        corners = [[wall.place(block.name, place) for place in block.shape.outline(k)] for k in range(6)]
        color = "tab:gray" if block.driven else "peru"
        panel.add_collection3d(Poly3DCollection(corners, facecolor=color, edgecolor="black", linewidth=0.4))
    panel.set(xlim=(-0.2, 1.2), ylim=(-0.6, 0.8), zlim=(0.0, 1.0), xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    panel.set_box_aspect((1.4, 1.4, 1.0))
    panel.view_init(elev=22.0, azim=-55.0)


if __name__ == "__main__":
    main()
