"""Experiments with deformable blocks, against their references."""

import pytest
from matplotlib.figure import Figure

from grouser import ParameterError, experiments
from grouser.experiments.protocol import complete_parameters
from grouser.references.comparison import compare
from grouser.references.reader import load_references

# The other cases of the tables differ by numbers only; the whole of them runs in `grouser reproduce --all`.
CASES = {
    "block_break": ("tension", "bending", "bending_order_2"),
    "block_cantilever": ("order_1_10_blocks_1e12", "order_2_5_blocks_1e12_poisson"),
    "block_column": ("order_1_10_blocks_1e12", "order_2_5_blocks_1e12_poisson", "axial_10_blocks"),
    "block_patch": ("skewed_1", "skewed_2", "regular_1"),
    "block_slope": ("friction_0_5",),
    "block_wave": ("bar",),
}


@pytest.mark.parametrize("name, label", [(name, label) for name, labels in CASES.items() for label in labels])
def test_experiment_agrees_with_its_reference(name, label):
    experiment = experiments.load(name)
    case = next(case for case in load_references(name).cases if case.name == label)
    parameters = complete_parameters(experiment, case.parameters)
    result = experiment.run(**parameters)
    lines = compare(case, parameters, result)
    assert lines and [line for line in lines if not line.agrees] == []
    assert result["energy_error"] < 2e-3
    assert result["compute_time"] > 0.0
    figure = Figure()
    experiment.plot(parameters, result, figure, ())
    assert figure.get_suptitle()
    assert all(panel.get_xlabel() and panel.get_legend() for panel in figure.axes if panel.get_label() != "<colorbar>")


def test_local_relaxation_comes_to_the_same():
    viscous, local = (experiments.run("block_column", blocks=4, relaxation=word) for word in ("viscous", "local"))
    assert local["shortening"] == pytest.approx(viscous["shortening"], rel=1e-5)
    assert local["relaxation_steps"] != viscous["relaxation_steps"]


@pytest.mark.parametrize("bad", [{"slope_deg": []}, {"slope_deg": [90.0]}, {"friction": -0.1}, {"order": 3}])
def test_invalid_parameters_are_refused(bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        experiments.run("block_slope", **bad)
