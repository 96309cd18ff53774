"""The phases of a step of the semi-implicit integrator, in order; a room's function with a phase's name is its entry.

Each entry takes one packed argument, the step's context:

- `request`: what Python must do before the step: NOTHING, or one of the requests below.
- `detect`: finds what is near.
- `apply_forces`: adds the implicit terms to the mass matrix and to the force.
- `assemble`, `factorise`: terms that may change between attempts; the factor, and the whitened velocity.
- `open_rows`: opens the room's rows, whitened.
- `predict`, `advance`, `set_row_laws`: once a step: actuators' loads are measured, their circuits are integrated, and
  the result becomes the law of their rows.
- `solve_impulses`: solves all rows and finds the velocity; after each solution `adjust` may change rows of the islands
  that were due, and marks these islands as changed.
- `revise`: chooses what must be assembled differently at the velocity found, and marks its islands as revised.
- `commit`: stores the results of the velocity in the room's state.
- `account`: adds the work of the step to the accounts of energy.
- `correct`, `hold`, `integrate`: displacement without position errors, coordinates at rest, new positions.

`revise` returns 1 if it changed anything, else 0.
"""

PHASES = (
    "request",
    "detect",
    "apply_forces",
    "assemble",
    "factorise",
    "open_rows",
    "predict",
    "advance",
    "set_row_laws",
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
    REQUEST,
    DETECT,
    APPLY_FORCES,
    ASSEMBLE,
    FACTORISE,
    OPEN_ROWS,
    PREDICT,
    ADVANCE,
    SET_ROW_LAWS,
    SOLVE_IMPULSES,
    ADJUST,
    REVISE,
    COMMIT,
    ACCOUNT,
    CORRECT,
    HOLD,
    INTEGRATE,
) = range(len(PHASES))
# What a step may request before it starts.
NOTHING, MORE_TILES, MORE_CONTACTS, MORE_GRAIN_CONTACTS = range(4)
