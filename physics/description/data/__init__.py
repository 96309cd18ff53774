"""What a description holds: frozen dataclasses by subject, and what follows from one of them alone."""
