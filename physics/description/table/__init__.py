"""The generic reader of elements, which is given the table of elements."""
