"""The contents of descriptions: frozen dataclasses by subject, and functions of one of them."""
