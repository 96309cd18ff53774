"""The standard services of simulators, `simulation_interfaces`, over any `Host` that simulates."""
