"""Hydraulic circuits: their oil, and the cylinders and motors by which they act on the mechanism.

A machine's circuits are one graph of lines, flow elements, pumps and actuators (`network`, built by `elements`). Each
part of it is integrated over a step with an implicit scheme (`implicit`, `substep`, `plain_parts`); the actuators are
rows of the solver (`piston_rows`). The schemes of Strashnov and Mironenko, "Simulation of hydraulic actuator dynamics
in virtual environment systems" (2023), remain for comparison (`published_cylinder`, `published_valve`); equation
numbers without another source are those of that paper.
"""
