"""The phases of a step by the semi-implicit integrator, in order; a room's function of a phase's name takes part in it.

What a room gives, each of one packed argument, the step's context:

- `ask`: what has to be done outside of compiled code before the step: NOTHING, CONVEX_PAIRS or MORE_TILES.
- `detect`: finds what is near.
- `apply_forces`: adds to the mass matrix and to the force what acts implicitly.
- `assemble`, `factorise`: what may change while the step is searched for; the factor, and the half-solved velocity.
- `open_rows`: its rows, half-solved.
- `predict`, `advance`, `foresee`: once a step, what moves the mechanism is measured, integrated by itself, and gives
  its rows their law.
- `solve_impulses`: of all rows, and the velocity that they lead to; each time, `adjust` may change rows.
- `revise`: what has to be assembled otherwise at the velocity found.
- `commit`: takes the velocity over into the room's state.
- `account`: adds the work of the step to the accounts of energy.
- `correct`, `hold`, `integrate`: the displacement without position errors, what does not move, and the new positions.

`adjust` and `revise` say whether they changed anything: 1 or 0.
"""

PHASES = (
    "ask",
    "detect",
    "apply_forces",
    "assemble",
    "factorise",
    "open_rows",
    "predict",
    "advance",
    "foresee",
    "solve_impulses",
    "adjust",
    "revise",
    "commit",
    "account",
    "correct",
    "hold",
    "integrate",
)
(
    ASK,
    DETECT,
    APPLY_FORCES,
    ASSEMBLE,
    FACTORISE,
    OPEN_ROWS,
    PREDICT,
    ADVANCE,
    FORESEE,
    SOLVE_IMPULSES,
    ADJUST,
    REVISE,
    COMMIT,
    ACCOUNT,
    CORRECT,
    HOLD,
    INTEGRATE,
) = range(len(PHASES))
# What a step may ask for before it is made.
NOTHING, CONVEX_PAIRS, MORE_TILES = range(3)
