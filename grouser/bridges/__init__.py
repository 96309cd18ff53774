"""Bridges to real joysticks, buses and controllers: transport, mapping, link state and safe state, each by itself."""
