"""The generic reader of elements: it works by a table that it is given."""
