"""The commands by name."""

# Name: (module whose main(arguments) returns the exit status, help).
COMMANDS = {
    "list": ("grouser.commands.listing", "list machines, worlds, experiments and what else comes with it"),
    "run": ("grouser.commands.run", "simulate a machine on ROS 2 in real time"),
    "record": ("grouser.commands.record", "run, and write down what happens"),
    "replay": ("grouser.commands.replay", "do again what was recorded, and compare it bit by bit"),
    "conform": ("grouser.commands.conform", "check a running simulator against the ROS 2 interface"),
    "map": ("grouser.commands.map_file", "write a world's obstacles as a map for Nav2"),
    "inspect": ("grouser.commands.inspection", "show what a URDF or xacro file describes"),
    "reproduce": ("grouser.commands.reproduce", "run published results and compare with their references"),
    "diagram": ("grouser.commands.diagram", "check and draw a control program of function blocks"),
    "sweep": ("grouser.commands.sweep", "many runs: grids, random samples, sensitivity, optimisation"),
    "bode": ("grouser.commands.bode", "frequency response of a servo drive"),
    "identify": ("grouser.commands.identify", "fit parameters to measurements"),
    "fmu": ("grouser.commands.fmu", "write a machine as an FMU for other tools"),
    "hil-report": ("grouser.commands.hil_report", "show links, latencies and drops of running bridges"),
    "rviz": ("grouser.commands.rviz", "open RViz with displays of what a machine publishes"),
    "completion": ("grouser.commands.completion", "print a script for bash that completes commands and names"),
    "bench": ("grouser.commands.benchmark", "measure speed, beside other simulators"),
}
