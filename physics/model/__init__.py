"""The multibody system as arrays with names, and the state and commands of a simulation."""
