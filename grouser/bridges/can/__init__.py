"""CAN buses: J1939 with joysticks by BJM and EJM, databases (DBC), frames of fixed fields, CANopen.

Codecs are pure functions between bytes and values; `transport` alone touches a bus.
"""
