"""What a new family of elements needs: one file and one line in the registry."""

import sys
from importlib import util

import pytest

import grouser
from grouser.docs_pages.urdf_extension import extension_page
from grouser.physics.base.errors import MachineError
from grouser.physics.description.machine_file import registry

# The whole of a new file in physics/description/elements/.
FAMILY = '''
"""Winches."""

from dataclasses import dataclass, replace

from grouser.physics.description.table.attributes import ElementKind, link, name_of, positive
from grouser.physics.description.table.family import Family
from grouser.physics.description.urdf.placement import rigid_lumps


@dataclass(frozen=True)
class Winch:
    name: str
    link: str
    force: float
    length: float | None


WINCH = ElementKind(
    "winch",
    "Pulls a link.",
    (
        name_of("its name"),
        link("link that it pulls"),
        positive("force", "N", "largest pull", maximum=1e6),
        positive("length", "m", "of the rope", default_text="the force over 1000 N/m"),
    ),
    Winch,
    field="winches",
    unique="name",
)


def complete_winch(entry, scope):
    """Fills in the length of the rope, and checks that the link has a mass."""
    winch = entry.value
    if scope.links[winch.link].inertial is None:
        raise entry.element.error(f"link '{winch.link}' has no mass", "give it an <inertial>")
    return replace(winch, length=winch.force / 1000.0) if winch.length is None else winch


def check_winches(machine, extension):
    """Checks that what a winch pulls can move."""
    for entry in extension["winches"]:
        if rigid_lumps(machine)[entry.value.link] == machine.root:
            raise entry.element.error("it pulls the base", "name a link that a joint moves")


FAMILY = Family((WINCH,), complete={"winches": complete_winch}, check=check_winches)
'''

# The content of <grouser> is in line 7.
ROBOT = """<robot name="r">
<link name="base"/>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/></joint>
<link name="plate"/><joint name="glue" type="fixed"><parent link="arm"/><child link="plate"/></joint>
<grouser>
{}
</grouser></robot>
"""


@pytest.fixture
def winches(tmp_path, monkeypatch):
    """The module of a family that the registry lists beside its own."""
    path = tmp_path / "winches.py"
    path.write_text(FAMILY)
    spec = util.spec_from_file_location("winches", path)
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "winches", module)
    spec.loader.exec_module(module)
    # the line in the registry, and what follows from it there
    monkeypatch.setattr(registry, "FAMILIES", (*registry.FAMILIES, module.FAMILY))
    monkeypatch.setattr(registry, "ELEMENTS", (*registry.ELEMENTS, module.WINCH))
    return module


def load(folder, content: str) -> grouser.Machine:
    path = folder / "robot.urdf"
    path.write_text(ROBOT.format(content))
    return grouser.load_machine(path, base="fixed")


def test_a_new_element_is_read_and_completed(winches, tmp_path):
    content = '<winch name="main" link="arm" force="500"/><winch name="aft" link="arm" force="1" length="4"/>'
    machine = load(tmp_path, content)
    main, aft = winches.Winch("main", "arm", 500.0, 0.5), winches.Winch("aft", "arm", 1.0, 4.0)
    assert machine.elements("winches") == (main, aft)


@pytest.mark.parametrize(
    ("content", "problem", "remedy"),
    [
        ('<winch name="w" link="arm" force="-1"/>', "force = -1 N is out of range", "valid: above 0 to 1e+06"),
        ('<winch name="w" link="arm" forces="1"/>', "unknown attribute 'forces'", "did you mean 'force'?"),
        ('<winch name="w" link="amr" force="1"/>', "there is no such link", "did you mean 'arm'?"),
        ('<winch name="w" link="plate" force="1"/>', "link 'plate' has no mass", "give it an <inertial>"),
    ],
)
def test_errors_of_a_new_element_name_file_line_element_and_remedy(winches, tmp_path, content, problem, remedy):
    with pytest.raises(MachineError) as error:
        load(tmp_path, content)
    message = str(error.value)
    assert message.startswith(f'{tmp_path / "robot.urdf"}:7: <winch name="w">: ')
    assert problem in message and remedy in message


def test_the_whole_machine_is_checked_for_a_new_element(winches, tmp_path):
    heavy = '<density link="base" value="1"/>'
    ground = '<link name="base"><collision><geometry><sphere radius="1"/></geometry></collision></link>'
    path = tmp_path / "robot.urdf"
    text = ROBOT.format(heavy + '<winch name="w" link="base" force="1"/>')
    path.write_text(text.replace('<link name="base"/>', ground))
    with pytest.raises(MachineError, match=r':7: <winch name="w">: it pulls the base \(name a link'):
        grouser.load_machine(path, base="fixed")


def test_a_new_element_is_in_fleets_by_prefixed_names(winches, tmp_path):
    machine = load(tmp_path, '<winch name="main" link="arm" force="500"/>')
    both = grouser.combine({"": grouser.Member(machine), "b": grouser.Member(machine)})
    assert [(winch.name, winch.link) for winch in both.elements("winches")] == [("main", "arm"), ("b/main", "b/arm")]


def test_a_new_element_is_in_the_documentation(winches):
    section = extension_page().split("## `<winch>`")[1]
    assert "Pulls a link. Each has its own `name`." in section
    assert "| `force` | N | required | above 0 to 1e+06 | largest pull |" in section


def test_machines_give_elements_of_known_rows_by_their_field_too(tmp_path):
    machine = load(tmp_path, '<initial_position joint="hinge" position="0.5"/><integrator method="variational"/>')
    assert machine.elements("initial_positions") == machine.initial_positions != ()
    assert machine.elements("integrator") == (machine.integrator,)
    assert machine.elements("winches") == ()
