"""Batches: each copy moves as a single simulation."""

import os
import signal

import numpy as np
import pytest

from grouser import DivergenceError, ParameterError, Simulation, World
from grouser.physics.base.trees import copied, leaves
from grouser.physics.description.data.pose import Pose
from grouser.physics.description.data.world import Ground
from grouser.physics.integrators.step import run_steps
from grouser.physics.simulation.capacity import capacity_of, with_capacity

BOX = '<box size="0.2 0.2 0.2"/>'
INERTIA = (0.0133,) * 3


@pytest.fixture
def falling(parts):
    """Two boxes, one above the other, above the ground: they touch the ground and each other."""
    machine = parts.machine(
        '<link name="world"/>',
        parts.link("lower", 2.0, INERTIA, BOX),
        parts.link("upper", 2.0, INERTIA, BOX),
        parts.joint("free_lower", "floating", "world", "lower", xyz=(0, 0, 0.11)),
        parts.joint("free_upper", "floating", "world", "upper", xyz=(0.03, 0.02, 0.33)),
    )
    return Simulation(machine, World(ground=Ground(friction=0.5), spawn=Pose()))


def states(simulation):
    return np.concatenate([array.ravel().astype(float) for array in leaves(simulation.state)])


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_batch_copies_equal_single_simulations(falling, threads):
    falling.reset()
    batch = falling.batch(5)
    for copy, simulation in enumerate(batch.simulations):
        simulation.state.v[6] = 0.1 * copy  # each upper box slides off at a speed of its own
    batch.step(3, threads=threads)
    batch.step(247, threads=threads)
    for copy in range(len(batch)):
        falling.reset()
        falling.state.v[6] = 0.1 * copy
        falling.step(250)
        assert np.array_equal(states(batch[copy]), states(falling)), "to the last bit"
    assert len({states(simulation).tobytes() for simulation in batch.simulations}) == 5


def test_batch_copies_begin_in_the_state_of_the_original(falling):
    falling.reset()
    falling.step(40)
    batch = falling.batch(2)
    batch[0].reset()
    batch.step(1)
    falling.step(1)
    assert np.array_equal(states(batch[1]), states(falling))
    assert batch[0].step_count == 1
    assert batch.state.q.shape == (2, 14)


def test_batch_copies_are_restored_independently(falling):
    falling.reset()
    batch = falling.batch(2)
    batch.step(100)
    saved = batch[0].snapshot()
    batch.step(50)
    after = states(batch[0])
    batch[1].restore(saved)
    batch[1].step(50)
    assert np.array_equal(states(batch[1]), after)


def test_batch_error_names_the_diverged_copy(falling):
    falling.reset()
    batch = falling.batch(3)
    batch[1].state.v[2] = np.nan
    with pytest.raises(DivergenceError):
        batch.step(10)
    assert batch[0].step_count == batch[2].step_count == 10
    assert np.isfinite(states(batch[2])).all()


@pytest.mark.parametrize("count", [0, -1, 1.5, "two"])
def test_invalid_batch_counts_are_refused(falling, count):
    with pytest.raises(ParameterError, match="count"):
        falling.batch(count)


def test_step_counts_of_any_integer_type_use_one_specialisation(falling):
    falling.reset()
    batch = falling.batch(2)
    falling.step(1)
    batch.step(1)
    compiled = len(run_steps.signatures), len(batch._run.signatures)
    falling.step(np.int32(2))
    batch.step(np.uint8(1))
    batch.step(np.int64(1))
    assert (len(run_steps.signatures), len(batch._run.signatures)) == compiled
    assert batch[0].step_count == falling.step_count == 3


def test_invalid_thread_counts_are_refused(falling):
    with pytest.raises(ParameterError, match="threads"):
        falling.batch(1).step(1, threads=0)


def test_batch_steps_in_a_forked_process(falling):
    batch = falling.batch(2)
    batch.step(3, threads=2)
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # ends the process
        batch.step(4, threads=2)
        os._exit(batch[1].step_count - falling.step_count)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    batch.step(1, threads=2)


def test_some_copies_of_a_batch_step(falling):
    falling.reset()
    batch = falling.batch(4)
    for copy, simulation in enumerate(batch.simulations):
        simulation.state.v[6] = 0.1 * copy
    batch.step(30, threads=2, copies=[3, 1])
    batch.step(20, copies=np.array([1]))
    batch.step(5, copies=[])
    assert [simulation.step_count for simulation in batch] == [0, 50, 0, 30]
    for copy, steps in enumerate((0, 50, 0, 30)):
        falling.reset()
        falling.state.v[6] = 0.1 * copy
        if steps:
            falling.step(steps)
        assert np.array_equal(states(batch[copy]), states(falling))
    with pytest.raises(ParameterError, match="copy"):
        batch.step(1, copies=[4])


def test_copies_of_a_batch_with_other_arrays_step(falling):
    """A copy may get a state of another capacity, as a snapshot of a run with more contacts has."""
    falling.reset()
    batch = falling.batch(2)
    capacity = capacity_of(batch[1].state)
    batch[1].use_state(with_capacity(copied(batch[0].state), capacity._replace(contacts=2 * capacity.contacts)))
    batch[1].state.v[6] = 0.1
    batch.step(200, threads=2)
    for copy in range(2):
        falling.reset()
        falling.state.v[6] = 0.1 * copy
        falling.step(200)
        assert np.array_equal(batch[copy].state.q, falling.state.q)
        assert np.shares_memory(batch.state.q, batch[copy].state.q)
