"""Programmable logic controllers: Modbus TCP and RTU, OPC UA; each as server and as client."""
