"""Hydraulic actuators: directional valve and double-acting cylinder on a supply of constant pressure.

After Strashnov and Mironenko, "Simulation of hydraulic actuator dynamics in virtual environment systems" (2023), and
Manring and Fales, Hydraulic Control Systems (2019). Equation numbers are the former's.
"""
