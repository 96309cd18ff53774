"""A hundred million steps of the Lie-group integrator: `make soak`."""

import numpy as np
import pytest

from grouser import RigidBody, simulate_body


@pytest.mark.soak
def test_attitude_invariants_over_a_hundred_million_steps():
    """The 3D pendulum for eleven days. Rounding errors do not accumulate: the bounds are those of the first 100 s."""
    body = RigidBody(1.0, [0.13, 0.28, 0.17], [0.0, 0.0, 0.3], [0.0, 0.0, 9.81])
    motion = simulate_body(body, np.eye(3), [4.14, 4.14, 4.14], 0.01, 100_000_000, every=10_000)
    means = [part.mean() for part in np.array_split(motion.energy - motion.energy[0], 10)]
    print(
        f"energy {motion.max_energy_error:.6g} J, mean of tenths {np.array2string(np.array(means), precision=6)} J, "
        f"orthogonality {motion.max_constraint_error:.3g}, vertical momentum {motion.max_vertical_momentum_error:.3g}"
    )
    assert motion.max_energy_error < 3.0e-3
    assert motion.max_constraint_error < 1e-14
    assert motion.max_vertical_momentum_error < 1e-14
    # a thousand points in each tenth, that scatter by 1 mJ: five standard errors
    assert np.ptp(means) < 5.0 * 2.0 * 1e-3 / np.sqrt(1000.0)
