"""Grains in the steps of machines: exchange of momentum, restarts, copies, and machines that come and go."""

import warnings

import numpy as np
import pytest
from momentum import momentum_of

import grouser
from grouser.physics.base.trees import leaves
from grouser.physics.description import parse_machine
from grouser.physics.description.world.reader import parse_world
from grouser.physics.simulation.clearing import clear_grains
from grouser.physics.simulation.transfer import simulate, transfer_state

GRAINS = """
granular:
  materials: {{gravel: {{youngs_modulus: 1.0e6, density: 2600}}}}
  surface: {{restitution: 0.4, friction: 0.5, rolling_friction: 0.05}}
  settle: {settle}
  fills:
    pit: {{material: gravel, box: [0.4, 0.4, {height}], xyz: [0, 0, {middle}], radius: [0.025, 0.035], count: {count}}}
"""
PIT = """
ground: {{height: 0.0}}
obstacles:
 - {{name: a, box: [0.02, 0.44, 0.3], xyz: [0.21, 0, 0.15]}}
 - {{name: b, box: [0.02, 0.44, 0.3], xyz: [-0.21, 0, 0.15]}}
 - {{name: c, box: [0.44, 0.02, 0.3], xyz: [0, 0.21, 0.15]}}
 - {{name: d, box: [0.44, 0.02, 0.3], xyz: [0, -0.21, 0.15]}}
spawn: {{xyz: [0, 0, {spawn}]}}
"""
BOX = """<robot name="box"><link name="box">
  <inertial><mass value="5"/><inertia ixx="0.05" iyy="0.06" izz="0.07" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.2 0.25 0.1"/></geometry></collision>
</link></robot>"""


def pit(count: int = 60, spawn: float = 0.4) -> grouser.World:
    text = PIT.format(spawn=spawn) + GRAINS.format(settle=1.0, height=0.6, middle=0.3, count=count)
    return parse_world(text, "pit.yaml")


def box() -> grouser.Machine:
    return parse_machine(BOX, "box.urdf")


@pytest.fixture(scope="module")
def fallen() -> grouser.Simulation:
    """A box that lies on grains in a pit."""
    simulation = grouser.Simulation(box(), pit())
    simulation.step(1500)
    return simulation


@pytest.fixture(scope="module")
def resting() -> grouser.Simulation:
    """Grains in a pit that sleep, and a box far above them."""
    simulation = grouser.Simulation(box(), pit(spawn=60.0))
    for _ in range(60):
        simulation.step(50)
        if simulation.grains.asleep.all():
            return simulation
    raise AssertionError("the grains do not come to rest")


def test_grains_carry_a_body(fallen):
    force, _ = fallen.grains.force("box")
    assert force == pytest.approx([0.0, 0.0, 5 * 9.81], abs=1.0)
    assert abs(fallen.base_twist()[0]).max() < 0.02
    assert fallen.base_pose()[0][2] > 0.1


def test_work_of_grains_is_accounted(fallen):
    balance = fallen.energy_balance()
    (name,) = balance.actuator_work
    assert name == "grains on box"
    assert balance.residual == pytest.approx(0.0, abs=2e-3 * abs(balance.actuator_work[name]))


def test_momentum_goes_over_to_the_last_bits():
    text = "ground: null\ngravity: 0\n" + GRAINS.format(settle=0.0, height=0.2, middle=0.3, count=30)
    simulation = grouser.Simulation(box(), parse_world(text, "space.yaml"))
    simulation.state.v[:] = 0.3, -0.2, 2.0, 1.0, 2.0, -1.5
    simulation.resume(simulation.state)

    def momenta() -> np.ndarray:
        return momentum_of(simulation) + simulation.grains.momentum()

    before = momenta()
    simulation.step(300)
    assert np.abs(simulation.grains.velocity).max() > 0.5
    assert momenta() == pytest.approx(before, abs=1e-12)


def _bits(simulation) -> list[bytes]:
    grains = simulation.grains
    arrays = grains.position, grains.velocity, grains.spin, simulation.state.q, simulation.state.v
    return [array.tobytes() for array in arrays]


def test_restart_and_copies_have_the_same_bits(fallen):
    simulation = grouser.Simulation(box(), pit())
    simulation.step(150)
    saved = simulation.snapshot()
    copies = simulation.batch(2)
    simulation.step(200)
    copies.step(200)
    after = _bits(simulation)
    assert [_bits(copy) for copy in copies] == [after, after]
    simulation.restore(saved)
    simulation.step(77)
    simulation.step(123)
    assert _bits(simulation) == after
    fallen.restore(saved)
    fallen.step(200)
    assert _bits(fallen) == after
    fallen.reset()
    fallen.step(1500)


def test_grains_are_added_and_removed_between_steps(fallen):
    """One above the box and a clump beside fall freely; the others feel rounding alone, by the order of their lists."""
    saved, count = fallen.snapshot(), len(fallen.grains)
    fallen.step(100)
    alone = fallen.grains.position
    fallen.restore(saved)
    rod = grouser.ClumpShape("rod", (((0, 0, 0), 1.0), ((1.4, 0, 0), 1.0)))
    place = [np.array([[0.0, 0.0, 3.0]]), np.array([[1.0, 0.0, 4.0], [1.0, 0.5, 4.0]])]
    kinds = [grouser.Grains(place[0], 0.03, "gravel"), grouser.Grains(place[1], 0.03, "gravel", shape=rod)]
    added = fallen.grains.add(kinds)
    lone = 2600 * 4 / 3 * np.pi * 0.03**3
    assert added.tolist() == list(range(count, count + 5)) and len(fallen.grains) == count + 5
    assert fallen.grains.mass[count:].sum() == pytest.approx(3 * lone)
    fallen.step(100)
    # leapfrog: the fall of n steps of h is g h^2 n (n + 1)/2
    n, h = round(0.1 / fallen.grains.contact_step), fallen.grains.contact_step
    drop = 9.81 * h * h * n * (n + 1) / 2
    assert fallen.grains.position[count] == pytest.approx([0.0, 0.0, 3.0 - drop], abs=1e-12)
    assert fallen.grains.clumps.position[:, 2] == pytest.approx(4.0 - drop, abs=1e-12)
    # a sphere of each clump stands for both
    assert fallen.grains.remove(added[[0, 1, 4]]) == pytest.approx(3 * lone)
    assert fallen.grains.position == pytest.approx(alone, abs=1e-10)
    fallen.step(50)
    assert fallen.grains.ident.tolist() == list(range(count)) and not len(fallen.grains.clumps.mass)
    fallen.restore(saved)


def test_removed_grains_wake_what_lies_on_them(resting):
    saved, grains = resting.snapshot(), resting.grains
    lowest, mass = int(np.argmin(grains.position[:, 2])), grains.mass
    apart = np.linalg.norm(grains.position - grains.position[lowest], axis=1)
    beside = np.flatnonzero(apart < grains.radius + grains.radius[lowest])
    assert grains.remove([lowest]) == mass[lowest]
    assert set(grains.ident[~grains.asleep]) == {*beside.tolist()} - {lowest}
    resting.restore(saved)


def test_grains_that_cannot_be_added_change_nothing(fallen):
    saved, before, grains = fallen.snapshot(), _bits(fallen), fallen.grains
    high = np.array([[0.0, 0.0, 3.0]])
    wrong = {
        "at most 0.035": grouser.Grains(high, 0.04, "gravel"),
        "step.*a contact lasts": grouser.Grains(high, 0.001, "gravel"),
        "material": grouser.Grains(high, 0.03, "sand"),
        "grain 1.*neither grains, nor ground": grouser.Grains(np.array([*high, grains.position[7]]), 0.03, "gravel"),
        r"grain 0.*\(1.0, 0.0, 0.02\)": grouser.Grains(np.array([[1.0, 0.0, 0.02]]), 0.03, "gravel"),
        "position of grain 0": grouser.Grains(fallen.base_pose()[0][np.newaxis] + [0, 0, 0.07], 0.03, "gravel"),
    }
    for message, given in wrong.items():
        with pytest.raises(grouser.ParameterError, match=message):
            grains.add(given)
    for numbers in ([60], [-1], [0.5], [[1]]):
        with pytest.raises(grouser.ParameterError, match="of a grain|of grains"):
            grains.remove(numbers)
    with pytest.raises(grouser.ParameterError, match="granular"):
        grouser.Simulation(box()).grains.add(grouser.Grains(high, 0.03, "gravel"))
    assert _bits(fallen) == before
    fallen.step(100)
    after = _bits(fallen)
    fallen.restore(saved)
    fallen.step(100)
    assert _bits(fallen) == after
    fallen.restore(saved)


def test_sleeping_grains_go_on_with_the_same_bits(resting):
    """A box falls onto grains that sleep: restored before, they wake at the same moment."""
    start = resting.snapshot()
    resting.state.q[2], resting.state.v[:] = 0.5, 0.0
    resting.resume(resting.state)
    resting.step(20)
    saved = resting.snapshot()
    assert resting.grains.asleep.all()
    resting.step(280)
    after = _bits(resting)
    assert not resting.grains.asleep.all()
    for simulation in (resting, grouser.Simulation(box(), pit(spawn=60.0))):
        simulation.restore(saved)
        simulation.step(111)
        simulation.step(169)
        assert _bits(simulation) == after
    resting.restore(start)


def test_machines_come_and_go_among_grains():
    world, machine = pit(), box()
    alone = simulate({"one": grouser.Member(machine)}, world, 0.001)
    alone.step(600)
    both = simulate(
        {"one": grouser.Member(machine), "two": grouser.Member(box(), grouser.Pose((0.0, 0.0, 2.0)))}, world, 0.001
    )
    transfer_state(alone, both)
    alone.step(100)
    both.step(100)
    # the second is still in the air
    assert both.grains.position == pytest.approx(alone.grains.position, abs=1e-12)
    again = simulate({"one": grouser.Member(machine)}, world, 0.001)
    transfer_state(both, again)
    alone.step(50)
    again.step(50)
    assert again.grains.position == pytest.approx(alone.grains.position, abs=1e-12)
    assert len(again.grains) == 60


def test_settled_beds_are_kept():
    first, second = (grouser.Simulation(box(), pit(40)) for _ in range(2))
    for one, other in zip(leaves(first.state), leaves(second.state), strict=True):
        assert np.array_equal(one, other)
    assert np.abs(first.grains.velocity).max() < 0.1


def test_fills_that_overlap_are_relaxed():
    text = PIT.format(spawn=0.4) + GRAINS.format(settle=0.0, height=0.2, middle=0.1, count=9)
    text += "    again: {material: gravel, box: [0.4, 0.4, 0.2], xyz: [0.01, 0, 0.1], radius: 0.03, count: 9}\n"
    with pytest.warns(RuntimeWarning, match="grains start inside each other"):
        simulation = grouser.Simulation(box(), parse_world(text, "twice.yaml"))
    place, radius = simulation.grains.position, simulation.grains.radius
    distance = np.linalg.norm(place[:, None] - place, axis=2) + np.eye(len(place))
    assert (distance > radius[:, None] + radius - 0.01 * 0.03).all()


def test_grains_inside_a_machine_are_taken_away():
    simulation = grouser.Simulation(box(), pit(spawn=0.06))
    (warning,) = [text for text in simulation.warnings if "grains" in text]
    assert "of 60 grains are taken away" in warning
    assert len(simulation.grains) < 60
    simulation.step(100)
    assert np.abs(simulation.grains.velocity).max() < 1.5


def test_grains_inside_are_sought_without_a_change_of_contacts(fallen):
    """Grains touch the box without being inside; the first contacts belong to a grain that touches the pit alone."""
    state = fallen.snapshot().state
    history = state.granular.grains.boundary_history
    before = history.copy()
    assert before[0].any()
    assert clear_grains(fallen._engine, state) == ()
    assert np.array_equal(history, before)


def test_contacts_too_stiff_for_the_step_are_told():
    light = BOX.replace('mass value="5"', 'mass value="0.002"').replace("0.05", "2e-5").replace("0.06", "2e-5")
    light = light.replace("0.07", "2e-5").replace('size="0.2 0.25 0.1"', 'size="0.2 0.25 0.05"')
    simulation = grouser.Simulation(parse_machine(light, "light.urdf"), pit())
    with pytest.warns(RuntimeWarning, match='the contacts of grains with "box" are .* times as stiff'):
        simulation.step(400)


def test_bad_input_is_refused_with_the_place():
    wrong = {
        "count: 60": ("count: 100000", "count of fill 'pit'"),
        "youngs_modulus: 1.0e6": ("youngs_modulus: 1.0e14", "softer or larger grains"),
        "radius: [0.025, 0.035]": ("radius: [0.0003, 0.035]", "the largest is at most 100 times the least"),
        "material: gravel, box": ("material: sand, box", "one of gravel"),
        "radius: [0.025, 0.035], count: 60": ("radius: 30", "radius of fill 'pit' .* its volume has room for one"),
    }
    good = PIT.format(spawn=0.4) + GRAINS.format(settle=0.0, height=0.6, middle=0.3, count=60)
    for one, (other, message) in wrong.items():
        assert one in good
        with pytest.raises(grouser.GrouserError, match=message):
            grouser.Simulation(box(), parse_world(good.replace(one, other), "wrong.yaml"))
    with pytest.raises(grouser.MachineError, match="radius 0.025 m is not at least two cells"):
        parse_world(
            "ground: {soil: {type: cmu_sand}}\n" + GRAINS.format(settle=0, height=1, middle=1, count=3), "w.yaml"
        )


def test_world_without_grains_has_none():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulation = grouser.Simulation(box())
    assert len(simulation.grains) == 0
    assert simulation.grains.material == ()


def test_rays_meet_grains():
    lidar = BOX.replace(
        "</robot>",
        '<grouser><sensor name="eye" type="lidar" link="box" xyz="0 0 -0.06" rpy="0 1.5707963267948966 0" beams="181" '
        'angle_min="-1.2" angle_max="1.2" range_min="0" range_max="10"/></grouser></robot>',
    )
    simulation = grouser.Simulation(parse_machine(lidar, "lidar.urdf"), pit(spawn=1.0))
    ranges = simulation.sensors.lidar["eye"].ranges
    eye = simulation.base_pose()[0] - [0, 0, 0.06]
    centres, radii = simulation.grains.position, simulation.grains.radius
    hits = 0
    for angle, measured in zip(np.linspace(-1.2, 1.2, 181), ranges, strict=True):
        # the sensor's x axis points down, its y axis is the world's
        way = np.array([0.0, np.sin(angle), -np.cos(angle)])
        along = (centres - eye) @ way
        beside = np.linalg.norm(centres - eye - along[:, None] * way, axis=1)
        met = beside < radii
        expected = np.min(along[met] - np.sqrt(radii[met] ** 2 - beside[met] ** 2), initial=np.inf)
        hits += expected <= measured + 1e-9
        assert measured <= expected + 1e-9
    assert hits > 20


def test_emitters_and_sinks_keep_count():
    more = """
  emitters:
    pipe:
      {material: gravel, box: [0.2, 0.2, 0.1], xyz: [0, 0, 1.2], rate: 50, radius: [0.025, 0.03], velocity: [0, 0, -1],
       end: 0.5}
  sinks:
    hole: {box: [0.4, 0.4, 0.1], xyz: [0.0, 0.0, 0.0]}
"""
    text = PIT.format(spawn=3.0) + GRAINS.format(settle=0.5, height=0.6, middle=0.3, count=20) + more
    simulation = grouser.Simulation(box(), parse_world(text, "flow.yaml"))
    saved = simulation.snapshot()
    simulation.step(400)
    sources = simulation.state.granular
    assert sources.emitted[0] == pytest.approx(20, abs=1)
    simulation.step(400)
    drained, mass = simulation.state.granular.drained
    assert simulation.state.granular.emitted[0] == 25
    assert drained > 20
    assert len(simulation.grains) + drained == 20 + 25
    assert len(set(simulation.grains.ident.tolist())) == len(simulation.grains)
    least, largest = (2600 * 4 / 3 * np.pi * radius**3 for radius in (0.025, 0.035))
    assert least * drained < mass < largest * drained
    after = _bits(simulation)
    simulation.restore(saved)
    simulation.step(800)
    assert _bits(simulation) == after


def _emitting(emitters: str, around: str = "ground: {height: 0.0}", machine: str = BOX) -> grouser.Simulation:
    """Emitters, far below the one grain of the fill."""
    grains = GRAINS.format(settle=0.0, height=0.4, middle=3.0, count=1)
    text = f"{around}\nspawn: {{xyz: [0, 0, 5]}}\n{grains}  emitters: {{{emitters}}}\n"
    return grouser.Simulation(parse_machine(machine, "machine.urdf"), parse_world(text, "emitter.yaml"))


def _emitted(emitter: str, steps: int, around: str = "ground: {height: 0.0}", machine: str = BOX) -> np.ndarray:
    """Places of grains in the step in which an emitter made them."""
    simulation = _emitting(f"pipe: {{material: gravel, {emitter}}}", around, machine)
    known, places = simulation.grains.ident, []
    for _ in range(steps):
        simulation.step(1)
        new = ~np.isin(simulation.grains.ident, known)
        known = simulation.grains.ident
        places.extend(simulation.grains.position[new])
    return np.array(places)


def test_blocked_emitters_try_other_places():
    """A twentieth of the box is free: above the ground by a radius."""
    places = _emitted("box: [2, 2, 0.525], xyz: [0, 0, -0.2125], rate: 1000, radius: 0.025, end: 0.02", 120)
    # a step without a place has the chance 0.95^8 = 0.68: 20 grains take 62 steps, with a standard deviation of 12
    assert len(places) == 20


def test_emitters_leave_out_places_in_boundaries():
    """A box half below the ground, with an obstacle and a link in the other half."""
    plate = "ground: {height: 0.0}\nobstacles: [{name: plate, box: [0.3, 0.3, 0.2], xyz: [0.2, 0, 0.1]}]"
    machine = """<robot name="post"><link name="world"/><link name="post">
      <collision><geometry><box size="0.2 0.4 0.2"/></geometry></collision></link>
      <joint name="weld" type="fixed"><parent link="world"/><child link="post"/><origin xyz="-0.2 0 -4.9"/></joint>
    </robot>"""
    box = "box: [0.8, 0.6, 0.4], xyz: [0, 0, 0], rate: 1000, radius: 0.025, end: 0.03"
    places = _emitted(box, 100, plate, machine)
    assert len(places) == 30

    def gap(centre: list[float], half: list[float]) -> np.ndarray:
        return np.linalg.norm(np.maximum(np.abs(places - centre) - half, 0.0), axis=1)

    # they fall by 1e-5 m in the first step
    assert (gap([0.2, 0.0, 0.1], [0.15, 0.15, 0.1]) > 0.025 - 2e-5).all()
    assert (gap([-0.2, 0.0, 0.1], [0.1, 0.2, 0.1]) > 0.025 - 2e-5).all()
    assert (places[:, 2] > 0.025 - 2e-5).all()


def test_emitters_leave_out_places_in_soft_ground():
    """Also where no machine and no grain has opened the ground's tiles."""
    soil = "ground: {height: 0.1, soil: {type: cmu_sand, cell: 0.0125}}"
    places = _emitted("box: [1, 1, 0.2], xyz: [3, 0, 0.1], rate: 1000, radius: 0.025, end: 0.02", 40, soil)
    assert len(places) == 20
    # the nearest cell is at most half a diagonal away, where the lower side of a grain is higher by 1.6e-3 m
    assert (places[:, 2] > 0.125 - 1.7e-3).all()


def test_grains_do_not_begin_below_a_height_field(tmp_path):
    """A slope of 1:2, as far as the box of the emitter and the fill reach."""
    np.save(tmp_path / "slope.npy", np.outer(np.linspace(-0.5, 0.5, 5), np.ones(5)))
    field = f"ground: {{heightfield: {{file: {tmp_path / 'slope.npy'}, cell: 0.5}}}}"
    places = _emitted("box: [1, 1, 0.6], xyz: [0, 0, 0], rate: 1000, radius: 0.025, end: 0.02", 40, field)
    assert len(places) == 20
    # they fall by 1e-5 m in the first step
    steep = np.hypot(1.0, 0.5)
    assert (places[:, 2] - 0.5 * places[:, 0] > 0.025 * steep - 2e-5).all()
    text = f"{field}\nspawn: {{xyz: [0, 0, 5]}}\n" + GRAINS.format(settle=0.0, height=0.4, middle=0.0, count=40)
    grains = grouser.Simulation(box(), parse_world(text, "slope.yaml")).grains
    assert (grains.position[:, 2] - 0.5 * grains.position[:, 0] > 0.99 * grains.radius * steep).all()


def test_emitters_do_not_depend_on_each_other():
    """Also where grains wait for a free place: the box has room for few at a time."""
    pipe = "pipe: {material: gravel, box: [0.1, 0.1, 0.1], xyz: [0, 0, 1], rate: 1000, radius: [0.02, 0.035]}"
    other = ", other: {material: gravel, box: [1, 1, 1], xyz: [9, 0, 2], rate: 300, radius: [0.02, 0.035]}"
    radii = []
    for emitters in (pipe, pipe + other):
        simulation = _emitting(emitters)
        simulation.step(300)
        grains = simulation.grains
        radii.append(grains.radius[(grains.position[:, 0] < 5.0) & (grains.ident > 0)])
    assert 3 < len(radii[0]) < 60
    assert np.array_equal(*radii)


def test_emitter_without_fills():
    text = """
granular:
  materials: {gravel: {youngs_modulus: 1.0e6}}
  emitters: {feed: {material: gravel, box: [1, 1, 1], xyz: [0, 0, 2], rate: 100, radius: 0.02}}
"""
    simulation = grouser.Simulation(box(), parse_world(text, "feed.yaml"))
    assert len(simulation.grains.position) == 0
    simulation.step(105)
    assert len(simulation.grains.position) == 10
    with pytest.raises(grouser.MachineError, match="no grains .add fills: .* or emitters"):
        parse_world(text[: text.index("  emitters")], "empty.yaml")


def test_blocked_emitters_take_no_memory():
    """A box in the ground, and one beside it that makes its grains."""
    buried = "buried: {material: gravel, box: [1, 1, 0.5], xyz: [0, 0, -0.5], rate: 100000, radius: 0.02}"
    free = ", free: {material: gravel, box: [1, 1, 1], xyz: [0, 0, 1], rate: 300, radius: 0.02, end: 0.05}"
    simulation = _emitting(buried + free)
    simulation.step(100)
    assert simulation.state.granular.emitted.tolist() == [0, 15]
    assert len(simulation.state.granular.grains.position) < 60


def test_obstacle_vibrates_for_grains():
    text = (
        "ground: null\nobstacles: [{name: plate, box: [0.6, 0.6, 0.1], xyz: [0, 0, 0]}]\nspawn: {xyz: [0, 0, 3]}\n"
        + GRAINS.format(settle=1.0, height=0.1, middle=0.1, count=4)
        + "  vibrations:\n    plate: {amplitude: [0.0, 0.0, 0.003], frequency: 20}\n"
    )
    simulation = grouser.Simulation(box(), parse_world(text, "plate.yaml"))
    heights = []
    for _ in range(300):
        simulation.step(1)
        heights.append(simulation.grains.position[:, 2])
    lift = np.array(heights) - simulation.grains.radius - 0.05
    # a omega^2/g = 4.8: they are thrown up, and are never deep in the plate
    assert lift.max() > 0.004
    assert lift.min() > -0.0045
    with pytest.raises(grouser.GrouserError, match="vibrating obstacle"):
        parse_world(text.replace("plate: {amplitude", "other: {amplitude"), "plate.yaml")


def test_load_of_a_bucket_is_what_it_holds():
    """A trough with a flat floor, level: the grains dropped into it are its load, and it carries their weight."""
    plates = {
        "floor": ("0.4 0.4 0.02", "0 0 -0.21"),
        "front": ("0.02 0.4 0.2", "0.21 0 -0.1"),
        "back": ("0.02 0.4 0.2", "-0.21 0 -0.1"),
        "left": ("0.44 0.02 0.2", "0 0.21 -0.1"),
        "right": ("0.44 0.02 0.2", "0 -0.21 -0.1"),
    }
    collisions = "".join(
        f'<collision><origin xyz="{place}"/><geometry><box size="{size}"/></geometry></collision>'
        for size, place in plates.values()
    )
    bucket = f"""<robot name="bucket"><link name="world"/><link name="bucket">{collisions}</link>
      <joint name="weld" type="fixed"><parent link="world"/><child link="bucket"/><origin xyz="0 0 0.5"/></joint>
      <grouser><shovel name="scoop" link="bucket" cutting_edge="0.2 -0.2 0  0.2 0.2 0" top_edge="-0.2 -0.2 0 -0.2 0.2 0"
        cutting_direction="0 0 1" profile="0.2 0 0  0.2 0 -0.2  -0.2 0 -0.2  -0.2 0 0"/></grouser></robot>"""
    text = GRAINS.format(settle=0.0, height=0.4, middle=0.75, count=25)
    simulation = grouser.Simulation(parse_machine(bucket, "bucket.urdf"), parse_world(text, "air.yaml"))
    simulation.step(1500)
    load, grains = simulation.bucket_load("scoop"), simulation.grains
    held = (np.abs(grains.position[:, :2]) < 0.2).all(axis=1) & (grains.position[:, 2] > 0.25)
    assert load.count == held.sum() >= 20
    assert load.mass == pytest.approx(grains.mass[held].sum())
    centre = grains.mass[held] @ grains.position[held] / load.mass - [0, 0, 0.5]
    assert load.centre == pytest.approx(centre, abs=1e-12)
    with pytest.raises(grouser.ParameterError, match="shovel"):
        simulation.bucket_load("other")
