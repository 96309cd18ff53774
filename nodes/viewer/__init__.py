"""The viewer node: a simulated machine in the browser."""
