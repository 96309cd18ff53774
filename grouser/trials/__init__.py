"""One run of a simulation as data, with settings by address and measures of what it records.

Sweeps and identification run trials in processes of their own.
"""
