"""The mapping language: which field of which message commands or shows what of a machine."""
