"""Digging: tools that cut soil, carry it, push it and dump it."""
