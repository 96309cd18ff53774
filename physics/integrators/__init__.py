"""One step of the simulation, by each integrator."""
