"""Broyden's method for equations whose derivative is close to minus the identity."""

from grouser.physics.base.kernel import inlined

# Limit of the extrapolation: a change that removed less than half of the residual predicts the next one poorly.
_MOST_REMAINING = 0.5


@inlined
def next_direction(direction, rounds, residual, first, last):
    """Next change of the unknowns (Kelley, Solving Nonlinear Equations with Newton's Method, 2003, section 3.2).

    Args:
        direction: changes of all rounds so far; row `rounds` is the result, (rounds or more, unknowns).
        rounds: number of rounds so far.
        residual: of the present unknowns, (unknowns,).
        first, last: range of the unknowns that belong together; the others are left alone.
    """
    result = direction[rounds]
    for d in range(first, last):
        result[d] = residual[d]
    for k in range(rounds):
        taken = direction[k]
        along = square = 0.0
        for d in range(first, last):
            along += taken[d] * result[d]
            square += taken[d] * taken[d]
        if square == 0.0:
            continue
        share = along / square
        if k < rounds - 1:
            taken = direction[k + 1]
            for d in range(first, last):
                result[d] += share * taken[d]
        else:
            for d in range(first, last):
                result[d] /= 1.0 - min(share, _MOST_REMAINING)
