"""AND, OR, XOR, NOT."""

from grouser.function_blocks.block import TRUTH, of_many, stateless

BLOCKS = (
    of_many("AND", "true if all inputs are", TRUTH, TRUTH, all),
    of_many("OR", "true if any input is", TRUTH, TRUTH, any),
    of_many("XOR", "true if an odd number of inputs is", TRUTH, TRUTH, lambda values: sum(values) % 2 == 1),
    stateless("NOT", "true if the input is not", {"IN": TRUTH}, TRUTH, lambda value: not value),
)
