"""Function block diagrams: the blocks by their definitions, and what is refused of a diagram."""

import math
import sys
from itertools import pairwise

import numpy as np
import pytest

import grouser
from grouser import catalogue, cli
from grouser.function_blocks.blocks import TYPES
from grouser.function_blocks.diagram import Diagram, Input
from grouser.function_blocks.drawing import dot_text, draw
from grouser.function_blocks.plan import Surroundings, make_plan
from grouser.function_blocks.reader import load_control_program, load_diagram
from grouser.function_blocks.run import DiagramRun
from grouser.function_blocks.units import multiplied, parse_unit, unit_text
from grouser.physics.base.errors import MachineError, ParameterError
from grouser.physics.description.text.files import read_text
from grouser.program import CommandProgram
from grouser.resources import share_path

CYCLE = 0.1
AROUND = Surroundings(
    {"boom": "rad", "pressure.boom.piston_side": "Pa", "speed": "rad/s"}, {"valve": "-", "drum": "rad/s"}
)
DIAGRAMS = [file.stem for file in catalogue.program_files() if "blocks:" in file.read_text()]


def outputs(kind, *sequences, interval=CYCLE, wires=None, **parameters):
    """Outputs of a block, cycle by cycle; sequences are those of its inputs."""
    names = wires or [name for name in TYPES[kind].keys if name.isupper()][: len(sequences)]
    block = TYPES[kind].make(dict(parameters), names)
    run = block.make()
    rest = [port.default for name, port in block.inputs.items() if name not in names]
    columns = [[*values, *rest] for values in zip(*sequences, strict=True)]
    return [tuple(run(interval if number else 0.0, *values)) for number, values in enumerate(columns)]


def truths(text):
    """A timing diagram: ``_-`` for false and true."""
    return [sign == "-" for sign in text]


def drawn(values):
    return "".join("-" if value[0] else "_" for value in values)


# Of IEC 61131-3, tables 43 to 46: inputs and output over cycles of 0.1 s, PT = 0.3 s.
@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ("TON", "_------___--_----_", "____---_________-_"),
        ("TOF", "_--______-_-______", "_-----___------___"),
        ("TP", "_-_____-------_-__", "_---___---_____---"),
        ("R_TRIG", "--__-_-", "-___-_-"),
        ("F_TRIG", "--__-_-", "__-__-_"),
    ],
)
def test_timing_diagrams(kind, given, expected):
    presets = [[0.3] * len(given)] if kind[0] == "T" else []
    assert drawn(outputs(kind, truths(given), *presets)) == expected


def test_elapsed_times():
    on = truths("_-----__")
    times = [elapsed for _, elapsed in outputs("TON", on, [0.3] * 8)]
    assert times == pytest.approx([0.0, 0.0, 0.1, 0.2, 0.3, 0.3, 0.0, 0.0])
    off = [elapsed for _, elapsed in outputs("TOF", on, [0.15] * 8)]
    assert off == pytest.approx([0.0] * 7 + [0.1])


def test_a_timer_does_not_miss_its_preset_by_rounding():
    """A thousand intervals of 0.01 s are not 10 s."""
    on = [True] * 1002
    times = [number for number, (done, _) in enumerate(outputs("TON", on, [10.0] * 1002, interval=0.01)) if done]
    assert times[0] == 1000


@pytest.mark.parametrize(("kind", "both"), [("SR", "-"), ("RS", "_")])
def test_bistables_keep_and_one_input_dominates(kind, both):
    assert drawn(outputs(kind, truths("_-__-_"), truths("___-__"))) == "_--_--"
    assert drawn(outputs(kind, truths("-"), truths("-"))) == both


def test_counters():
    pulses, reset = truths("-_-_-_-__"), truths("_______-_")
    assert outputs("CTU", pulses, reset, [3.0] * 9) == [
        *[(False, 1.0), (False, 1.0), (False, 2.0), (False, 2.0), (True, 3.0), (True, 3.0), (True, 4.0)],
        *[(False, 0.0), (False, 0.0)],
    ]
    load = truths("-________")
    assert [count for _, count in outputs("CTD", truths("_-_-_-_-_"), load, [3.0] * 9)] == [3, 2, 2, 1, 1, 0, 0, 0, 0]


def test_selection_and_comparison():
    assert outputs("LIMIT", [-1.0] * 3, [-2.0, 0.5, 2.0], [1.0] * 3) == [(-1.0,), (0.5,), (1.0,)]
    assert outputs("LIMIT", [2.0], [0.0], [1.0]) == [(1.0,)]  # crossed
    assert outputs("SEL", truths("_-"), [1.0] * 2, [2.0] * 2) == [(1.0,), (2.0,)]
    chosen = outputs(
        "MUX", [-1.0, 0.0, 1.9, 2.0, 7.0], *([k] * 5 for k in (1.0, 2.0, 3.0)), wires=["K", "IN0", "IN1", "IN2"]
    )
    assert chosen == [(1.0,), (1.0,), (2.0,), (3.0,), (3.0,)]
    assert outputs("DEADBAND", [-0.3, -0.1, 0.0, 0.1, 0.3], [0.2] * 5) == [
        (pytest.approx(one),) for one in (-0.1, 0.0, 0.0, 0.0, 0.1)
    ]
    for kind, expected in {"GT": "__-", "GE": "_--", "EQ": "_-_", "LE": "--_", "LT": "-__", "NE": "-_-"}.items():
        assert drawn(outputs(kind, [1.0, 2.0, 3.0], [2.0] * 3)) == expected
    assert drawn(outputs("HYSTERESIS", [0.0, 1.5, 2.5, 1.5, 0.5, 1.5], [1.0] * 6, [2.0] * 6)) == "__--__"


def test_pid_of_an_integrator_has_its_closed_form():
    """e' = -gain e for a plant x' = u; with the implicit sum of a cycle, e falls by 1 - gain dt a cycle."""
    block = TYPES["PID"].make({"gain": 2.0}, ["SET", "IN"]).make()
    place, errors = 0.0, []
    for number in range(40):
        command, error = block(CYCLE if number else 0.0, 1.0, place, True)
        errors.append(error)
        place += CYCLE * command
    assert errors == pytest.approx([(1.0 - 2.0 * CYCLE) ** number for number in range(40)])


def test_pid_removes_a_steady_error_and_does_not_wind_up():
    """x' = u + d: the integral becomes -d / gain; while the output is limited it stands still."""
    block = TYPES["PID"].make({"gain": 4.0, "integral_time": 0.5, "lowest": -1.0, "highest": 1.0}, ["SET", "IN"]).make()
    place, most = 0.0, 0.0
    for number in range(4000):
        command, _ = block(0.01 if number else 0.0, 10.0, place, True)
        assert -1.0 <= command <= 1.0
        place += 0.01 * (command - 0.3)
        most = max(most, place)
    assert place == pytest.approx(10.0, abs=1e-6)
    assert command == pytest.approx(0.3, abs=1e-6)
    assert most < 10.3  # wound up it would have gone on for as long as it took: more than 3 m too far


def test_pid_derivative_is_of_the_measurement():
    times = CYCLE * np.arange(50)
    ramp = outputs("PID", [0.0] * 50, list(3.0 * times), gain=1.0, derivative_time=2.0, filter_time=0.2)
    assert ramp[-1][0] == pytest.approx(-3.0 * times[-1] - 2.0 * 3.0, rel=1e-6)
    kick = outputs("PID", [0.0, 1.0, 1.0], [0.0] * 3, gain=1.0, derivative_time=2.0)
    assert [value for value, _ in kick] == [0.0, 1.0, 1.0]


def test_dynamics():
    assert [one for (one,) in outputs("RAMP", [0.0, 1.0, 1.0, 1.0, -1.0, -1.0], [4.0] * 6, [8.0] * 6)] == pytest.approx(
        [0.0, 0.4, 0.8, 1.0, 0.2, -0.6]
    )
    step = [one for (one,) in outputs("LOWPASS", [0.0] + [1.0] * 3000, [2.0] * 3001, interval=1e-3)]
    assert step[2001] == pytest.approx(1.0 - math.exp(-1.0), abs=1e-3)  # of first order: dt / 2T
    times = CYCLE * np.arange(21)
    area = outputs("INTEGRAL", list(3.0 * times), [False] * 21)
    assert area[-1][0] == pytest.approx(1.5 * times[-1] ** 2)
    slope = outputs("DERIVATIVE", list(3.0 * times), [0.0] * 21)
    assert [one for (one,) in slope] == pytest.approx([0.0] + [3.0] * 20)
    assert outputs("DELAY", [1.0, 2.0], start=5.0) == [(1.0,), (2.0,)]  # of the next cycle each
    table = outputs("LOOKUP", [-1.0, 0.5, 1.5, 9.0], points=[[0, 0], [1, 2], [2, 2.5]])
    assert [one for (one,) in table] == pytest.approx([0.0, 1.0, 2.25, 2.5])


def test_attitude_is_that_of_the_turns():
    """Yaw, then pitch, then roll, as quaternions."""
    roll, pitch, yaw = 0.3, -0.5, 2.0
    cosines, sines = np.cos(np.array([roll, pitch, yaw]) / 2.0), np.sin(np.array([roll, pitch, yaw]) / 2.0)
    x = [sines[0], 0.0, 0.0, cosines[0]]
    y = [0.0, sines[1], 0.0, cosines[1]]
    z = [0.0, 0.0, sines[2], cosines[2]]
    turned = product(z, product(y, x))
    assert outputs("ATTITUDE", *([value] for value in turned))[0] == pytest.approx((roll, pitch, yaw))


def product(one, other):
    """Of quaternions x, y, z, w."""
    v, w = np.array(one[:3]), np.array(other[:3])
    return [*(one[3] * w + other[3] * v + np.cross(v, w)), one[3] * other[3] - v @ w]


def test_timed_values():
    values = [{"time": 0.0, "value": 1.0}, {"time": 0.2, "value": 0.0, "ramp": 0.2}]
    run = truths("_------")
    timed = outputs("TIMED", run, [False] * 7, values=values)
    assert [one[0] for one in timed] == pytest.approx([0.0, 1.0, 1.0, 1.0, 0.5, 0.0, 0.0])
    assert drawn([(done,) for _, done, _ in timed]) == "_____--"


CHART = {
    "initial": "idle",
    "outputs": {"speed": "-"},
    "states": {
        "idle": {"to": [{"state": "dig", "when": "start"}]},
        "dig": {"set": {"speed": "wish"}, "to": [{"state": "rest", "when": ["start", "not high"], "after": 0.2}]},
        "rest": {"set": {"speed": -1}, "to": [{"state": "idle", "when": "not start"}]},
    },
}


def test_state_chart():
    wires = ["start", "high", "wish"]
    start, high, wish = truths("_-----__"), truths("____-___"), [0.5] * 8
    done = outputs("STATE_CHART", start, high, wish, wires=wires, **CHART)
    states = ["idle" if idle else "dig" if dig else "rest" for _, _, idle, dig, _ in done]
    assert states == ["idle", "dig", "dig", "rest", "rest", "rest", "idle", "idle"]
    assert [speed for speed, *_ in done] == [0.0, 0.5, 0.5, -1.0, -1.0, -1.0, 0.0, 0.0]
    assert [elapsed for _, elapsed, *_ in done] == pytest.approx([0.0, 0.0, 0.1, 0.0, 0.1, 0.2, 0.0, 0.1])


def test_units():
    assert parse_unit("N m") == parse_unit("J") == parse_unit("kg m2/s2")
    assert parse_unit("rad/s") == parse_unit("1/s") == parse_unit("Hz")
    assert parse_unit("kg/(m s2)") == parse_unit("Pa")
    assert unit_text(multiplied(parse_unit("m3/s"), parse_unit("Pa"))) == "W"
    assert unit_text(parse_unit("m3/s")) == "m3/s"
    assert parse_unit(unit_text(parse_unit("kg/(m s)"))) == parse_unit("kg/(m s)")
    with pytest.raises(ValueError, match="'bar' is no unit"):
        parse_unit("bar")


def diagram(*blocks, **commands):
    made = Diagram(CYCLE, inputs={"start": Input(False), "height": Input(0.0, "m")})
    for name, kind, wires in blocks:
        made.add(name, kind, **wires)
    for actuator, wire in commands.items():
        made.command(actuator, wire)
    return made


PISTON = "pressure.boom.piston_side"
LOOP = [
    ("a", "ADD", {"IN1": "boom", "IN2": "b"}),
    ("b", "DELAY", {"IN": "c"}),
    ("c", "MUL", {"IN1": "a", "IN2": "speed"}),
]


@pytest.mark.parametrize(
    ("blocks", "commands", "words"),
    [
        ([("a", "ADD", {"IN1": "boom", "IN2": PISTON})], {}, "block a: IN2 is in Pa, and IN1 in -"),
        ([("a", "TON", {"IN": "input.start", "PT": "input.height"})], {}, "PT is in m; s is needed"),
        ([("a", "TON", {"IN": "boom", "PT": 1.0})], {}, "IN is true or false, and a number is wired to it"),
        ([("a", "NEG", {"IN": "input.start"})], {}, "IN is a number, and true or false is wired to it"),
        ([("a", "NEG", {"IN": "bom"})], {}, "'bom' is no block and no signal (did you mean 'boom'?)"),
        ([("a", "NEG", {"IN": PISTON[:-5]})], {}, "did you mean 'pressure.boom.piston_side'"),
        ([("a", "NEG", {"IN": "input.hight"})], {}, "no input 'hight' (did you mean 'height'?)"),
        ([("a", "NEG", {"IN": "operator.valv"})], {}, "no actuator 'valv' (did you mean 'valve'?)"),
        ([("a", "TON", {"IN": True, "PT": 1}), ("b", "NEG", {"IN": "a.ETT"})], {}, "block a has no output 'ETT'"),
        ([("boom", "NEG", {"IN": 1.0})], {}, "'boom' is the name of a signal, too"),
        ([("a", "NEG", {"IN": "b"}), ("b", "ABS", {"IN": "a"})], {}, "a loop without a delay: a -> b -> a"),
        ([("a", "NEG", {"IN": "a"})], {}, "a loop without a delay: a -> a"),
        ([("a", "NEG", {"IN": "boom"})], {"drum": "a"}, "its command is in -; 1/s is needed"),
        ([("a", "MUL", {"IN1": "speed", "IN2": "speed"})], {"drum": "a"}, "its command is in 1/s2; 1/s is needed"),
        ([], {"valfe": 1.0}, "the machine has no actuator 'valfe' (did you mean 'valve'?)"),
        (LOOP, {}, "IN2 is in 1/s, and IN1 in -"),
    ],
)
def test_wrong_wires_are_refused(blocks, commands, words):
    with pytest.raises(MachineError) as refused:
        make_plan(diagram(*blocks, **commands), AROUND)
    assert words in str(refused.value)


def chart(**transition):
    return {"initial": "a", "states": {"a": {"to": [transition]}}}


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        ("TOM", {}, "no block of the type 'TOM'; did you mean 'TON'"),
        ("TON", {"IN": True}, "the input PT is not wired"),
        ("TON", {"IN": True, "PT": 1.0, "QT": 1.0}, "a TON has no input 'QT'"),
        ("ADD", {"IN1": 1.0, "IN2": 1.0, "IN5": 1.0}, "the input IN3 is not wired"),
        ("PID", {"SET": 1, "IN": 1}, "gain is missing"),
        ("PID", {"SET": 1, "IN": 1, "gain": "x"}, "gain is 'x'"),
        ("PID", {"SET": 1, "IN": 1, "gain": 1, "lowest": 2, "highest": 1}, "lowest is 2, above highest"),
        ("PID", {"SET": 1, "IN": 1, "gain": 1, "integraltime": 2}, "unknown key 'integraltime'"),
        ("LOOKUP", {"IN": 1, "points": [[0, 0]]}, "points is no list of two or more points"),
        ("LOOKUP", {"IN": 1, "points": [[1, 0], [0, 1]]}, "do not rise"),
        ("TIMED", {"values": [{"time": 0}]}, "values is no list of times and values"),
        ("STATE_CHART", {**CHART, "initial": "idles"}, "the initial state 'idles' is none of its states"),
        ("STATE_CHART", CHART, "'start' is no condition"),
        ("ADD", {"IN1": 1.0, "IN2": 1.0, "IN900000000": 1.0}, "the input IN3 is not wired"),
        ("MUX", {"K": 0.0, "IN0": 1.0, "IN1": 1.0, "IN²": 1.0}, "a MUX has no input 'IN²'"),
        ("LOOKUP", {"IN": 1, "points": [[0, 0], [1, 1]], "unit": "product"}, "'product' is no unit"),
        ("STATE_CHART", {**CHART, "outputs": {"ET": "s"}}, "ET is the name of another output"),
        ("STATE_CHART", chart(state=["a"]), "there is no state ['a']"),
        ("STATE_CHART", chart(state="a", when=True), "when is True"),
        ("STATE_CHART", chart(state="a", when=" "), "' ' is no condition"),
        ("FUNCTION", {"function": "math:sin", "outputs": {"x": "same"}}, "'same' is no unit"),
        ("FUNCTION", {"function": "nowhere:f"}, "nowhere cannot be loaded"),
        ("FUNCTION", {"function": "math:nothing"}, "math has no function nothing"),
        ("NEG", {"IN": math.nan}, "nan is no wire"),
        ("NEG", {"IN": {"value": 1, "unit": "bar"}}, "'bar' is no unit"),
    ],
)
def test_wrong_blocks_are_refused(kind, given, words):
    with pytest.raises(ParameterError) as refused:
        Diagram(CYCLE).add("a", kind, **given)
    assert words in str(refused.value)


def test_value_of_a_state_chart_has_the_unit_of_its_output():
    made = Diagram(CYCLE)
    states = {"a": {"set": {"way": "high"}}}
    made.add("chart", "STATE_CHART", {"high": PISTON}, initial="a", outputs={"way": "m"}, states=states)
    with pytest.raises(MachineError, match="high is in Pa; m is needed"):
        make_plan(made, AROUND)


def test_unit_of_a_product_waits_for_that_of_a_delay():
    """Whose input has its unit from a block that comes later."""
    made = diagram(
        ("before", "DELAY", {"IN": "now"}),
        ("area", "MUL", {"IN1": "before", "IN2": {"value": 2.0, "unit": "s"}}),
        ("sum", "ADD", {"IN1": "area", "IN2": {"value": 1.0, "unit": "Pa s"}}),
        ("now", "ABS", {"IN": PISTON}),
    )
    plan = make_plan(made, AROUND)
    assert plan.kinds[plan.names["sum.OUT"]].unit == parse_unit("Pa s")


def test_thousands_of_blocks_in_a_row():
    made = diagram(*((f"b{number}", "NEG", {"IN": f"b{number + 1}"}) for number in range(1500)))
    made.add("b1500", "NEG", IN="boom")
    assert [name for name, _, _ in make_plan(made, AROUND).blocks][::1500] == ["b1500", "b0"]


class Accumulator:
    """A block of the user's, with a state."""

    def __init__(self):
        self.total = 0.0

    def __call__(self, interval, more):
        self.total += interval * more
        return {"total": self.total, "much": self.total > 1.0}


STILL: dict[str, object] = {}  # signals of no machine


def lift(**parameters):
    return grouser.Simulation(grouser.load_machine("hydraulic_lift", **parameters), grouser.load_world("flat"))


def test_functions_of_the_user():
    made = Diagram(CYCLE)
    made.add("sum", "FUNCTION", {"more": 6.0}, function=Accumulator, outputs={"total": "-", "much": "truth"})
    made.command("lift_valve", 0.0)
    run = DiagramRun(made, lift().signals)
    for _ in range(3):
        run.execute({})
    assert run.values["sum.total"] == pytest.approx(1.2) and run.values["sum.much"]
    run.reset()
    run.execute({})
    assert run.values["sum.total"] == 0.0


def test_a_function_that_fails_is_named():
    made = Diagram(CYCLE, commands={"lift_valve": "bad"})
    made.add("bad", "FUNCTION", {"x": 0.0}, function=lambda x: 1.0 / x)
    with pytest.raises(MachineError, match="block bad: ZeroDivisionError"):
        DiagramRun(made, lift().signals).execute({})


def test_commands_are_finite_and_those_of_valves_limited():
    """A controller without limits opens the valve; it must not keep its last command for want of a valid one."""
    simulation = lift()
    made = diagram(lift_valve=3.0)
    run = DiagramRun(made, simulation.signals)
    assert run.execute({}) == {"lift_valve": 1.0}
    made.command("lift_valve", "many")
    made.add("many", "MUL", IN1=1e200, IN2=1e200)
    with pytest.raises(MachineError, match="command lift_valve: it is inf"):
        DiagramRun(made, simulation.signals).execute({})


class Unready:
    """A block of the user's that cannot be made."""

    def __init__(self):
        raise SystemExit(3)


class Uncalled:
    """A class that is no block."""


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (Unready, "block bad: SystemExit: 3"),
        (Uncalled, "the class Uncalled has no method __call__"),
        (lambda: math.nan, "block bad: it returned nan for OUT"),
        (lambda: "much", "block bad: ValueError"),
        (lambda: sys.exit(3), "block bad: SystemExit: 3"),
    ],
)
def test_functions_that_give_nothing_of_use(function, words):
    made = Diagram(CYCLE)
    made.add("bad", "FUNCTION", function=function)
    with pytest.raises(MachineError, match=words):
        DiagramRun(made, STILL).execute({})


def test_a_loop_with_a_delay_is_a_difference_equation():
    """x[n + 1] = x[n] + 0.5 (1 - x[n]), whatever the order of the blocks."""
    blocks = [
        ("sum", "ADD", {"IN1": "before", "IN2": "half"}),
        ("half", "MUL", {"IN1": "error", "IN2": 0.5}),
        ("error", "SUB", {"IN1": 1.0, "IN2": "before"}),
        ("before", "DELAY", {"IN": "sum"}),
    ]
    signals = lift().signals
    for order in (blocks, blocks[::-1]):
        run = DiagramRun(diagram(*order, lift_valve="before"), signals)
        values = [run.execute({})["lift_valve"] for _ in range(6)]
        assert values == [1.0 - 0.5**number for number in range(6)]


def test_a_lift_is_held_at_a_height():
    """By its measured height, within what the valve's overlap of 5 % leaves of the error; the same bits again."""
    text = {"SET": "input.height", "IN": "lift", "gain": 20.0, "lowest": -1.0, "highest": 1.0}
    ends = []
    for _ in range(2):
        simulation = lift()
        run = DiagramRun(diagram(("hold", "PID", text), lift_valve="hold"), simulation.signals)
        run.set_input("height", 0.2)
        for _ in range(60):
            simulation.command.update(run.execute({}))
            simulation.step(round(CYCLE / simulation.step_size))
        ends.append(simulation.joint_position["lift"])
    assert ends[0] == pytest.approx(0.2, abs=0.05 / 20.0)
    assert ends[0] == ends[1]


def test_inputs_are_refused_by_name_and_value():
    run = DiagramRun(diagram(lift_valve=0.0), lift().signals)
    run.set_input("start", 1.0)
    assert run.inputs["start"] is True
    with pytest.raises(ParameterError, match="did you mean 'height'"):
        run.set_input("heightt", 1.0)
    with pytest.raises(ParameterError, match="a finite number"):
        run.set_input("height", math.inf)


FILE = """cycle: 0.02
blocks:
  late: {type: TON, IN: true, PT: 0.5}
  off: {type: SEL, G: late, IN0: 0, IN1: 1}
commands:
  lift_valve: off
"""


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("cycle: 0.02", "cycle: 0", "a time from 1e-05 to 10 s"),
        (
            "type: TON",
            "type: TOM",
            "file.yaml:3: block late: there is no block of the type 'TOM' (did you mean 'TON'?)",
        ),
        ("PT: 0.5", "P: 0.5", "file.yaml:3: block late: a TON has no input 'P'"),
        ("G: late", "g: late", "file.yaml:4: block off: unknown key 'g'"),
        ("commands:", "comands:", "unknown key 'comands'"),
        ("lift_valve: off", "lift_valve: [1]", "file.yaml:6: command lift_valve"),
        ("  off:", "  late:", "given twice"),
        ("{type: TON, IN: true, PT: 0.5}", "3", "file.yaml:3: block late: a mapping is needed"),
        ("{type: TON,", "&late {type: TON, in: {x: *late},", "it is too large"),
    ],
)
def test_wrong_files_are_refused(tmp_path, before, after, words):
    file = tmp_path / "file.yaml"
    file.write_text(FILE.replace(before, after))
    with pytest.raises(MachineError) as refused:
        load_diagram(file)
    assert words in str(refused.value)


def test_files_and_their_functions(tmp_path):
    (tmp_path / "mine.py").write_text("def half(x):\n    return 0.5 * x\n")
    file = tmp_path / "file.yaml"
    file.write_text(
        FILE.replace(
            "commands:\n  lift_valve: off",
            "  half: {type: FUNCTION, in: {x: off}, function: 'mine.py:half'}\ncommands:\n  lift_valve: half",
        )
    )
    run = DiagramRun(load_control_program(file), lift().signals)
    assert [run.execute({})["lift_valve"] for _ in range(26)] == [0.0] * 25 + [0.5]
    file.write_text("commands: [{time: 1.0, valve: lift_valve, value: 0.5}]\n")
    assert isinstance(load_control_program(file), CommandProgram)


@pytest.mark.parametrize("name", DIAGRAMS)
def test_shipped_diagrams_suit_their_machines(name, tmp_path):
    machine = next(one for one in ("demolition_robot", "excavator", "loader_crane") if name.startswith(one))
    made = load_diagram(catalogue.program_file(name))
    run = DiagramRun(made, grouser.Simulation(grouser.load_machine(machine), grouser.load_world("flat")).signals)
    commands = run.execute({})
    assert set(commands) == set(made.commands) and all(map(math.isfinite, commands.values()))
    text = dot_text(made)
    assert text.count("->") == sum(
        isinstance(wire, str) for placed in made.blocks.values() for wire in placed.wires.values()
    ) + len(made.commands)
    draw(made, tmp_path / "picture.dot")
    assert (tmp_path / "picture.dot").read_text() == text
    with pytest.raises(ParameterError, match="a name that ends in svg, png, pdf, dot"):
        draw(made, tmp_path / "picture.jpg")


def test_the_page_names_every_block():
    page = read_text(share_path("docs", "function_blocks.md"), 1_000_000, "page")
    rows = {line.split("|")[1].strip().strip("`"): line for line in page.splitlines() if line.startswith("| `")}
    for name, kind in TYPES.items():
        assert name in rows, f"docs/function_blocks.md has no row {name}"
        assert all(f"`{key}`" in rows[name] or key == "..." for key in kind.keys), name


@pytest.mark.parametrize("rounds", [1, pytest.param(4, marks=pytest.mark.soak)])
def test_excavator_digs_by_its_cylinders(rounds):
    """All states in their order, and each round takes as long as the one before."""
    made = load_diagram(catalogue.program_file("excavator_digging"))
    simulation = grouser.Simulation(grouser.load_machine("excavator"), grouser.load_world("flat"))
    run, states = DiagramRun(made, simulation.signals), []
    order = ["reach", "lower", "draw", "curl", "lift", "swing_over", "dump", "swing_back"]
    while len(states) <= rounds * len(order):
        simulation.command.update(run.execute({}))
        simulation.step(round(made.cycle / simulation.step_size))
        now = next((name for name in order if run.values[f"cycle.{name}"]), None)
        if now and (not states or states[-1][0] != now):
            states.append((now, simulation.time))
        assert simulation.time < 25.0 * rounds
    assert [name for name, _ in states] == [*order * rounds, "reach"]
    begun = [time for name, time in states if name == "lower"]
    lengths = [after - before for before, after in pairwise(begun)]
    assert lengths[1:] == pytest.approx(lengths[:-1], rel=0.1)


def test_the_command_refuses_a_twist_of_what_cannot_drive(tmp_path, capsys):
    file = tmp_path / "drive.yaml"
    file.write_text("cycle: 0.1\nblocks: {a: {type: NEG, IN: {value: -0.2, unit: m/s}}}\ncommands: {twist.x: a}\n")
    assert cli.main(["diagram", str(file), "--machine", "rover"]) == 0
    assert cli.main(["diagram", str(file), "--machine", "loader_crane"]) == 2
    assert "no actuator 'twist.x'" in capsys.readouterr().err


def test_the_command_checks_lists_and_draws(tmp_path, capsys):
    picture = tmp_path / "crane.dot"
    assert cli.main(["diagram", "loader_crane_overload", "--machine", "loader_crane", "--draw", str(picture)]) == 0
    said = capsys.readouterr().out
    assert "5 blocks, every 0.01 s" in said and "mean_pressure" in said and "OUT [Pa]" in said
    assert picture.read_text().startswith("digraph {")
    assert cli.main(["diagram", "loader_crane_overload", "--machine", "hydraulic_lift"]) == 0
    assert cli.main(["diagram", "loader_crane_overload", "--machine", "rover"]) == 2
    assert "'pressure.lift.piston_side' is no block and no signal" in capsys.readouterr().err
    assert cli.main(["diagram", "rover"]) == 2
    assert "unknown key 'commands'" not in capsys.readouterr().out


def test_the_python_of_the_page_runs(capsys):
    page = read_text(share_path("docs", "function_blocks.md"), 1_000_000, "page")
    exec(page.partition("```python\n")[2].partition("```")[0], {})
    error, unit = capsys.readouterr().out.split()
    assert 0.0 < float(error) < 0.1 and unit == "m"  # half of the way, at least
