"""The page in the browser around the scene: it moves the machine and runs the simulation."""
