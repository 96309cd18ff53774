"""The simulator node: lifecycle, session, the topics of each robot, trajectory action, faults, diagnostics."""
