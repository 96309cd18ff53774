"""Functional mock-up units: controllers that come in, each in a process of its own, and machines that go out."""
