"""Layouts of other programs for a machine: what RViz and Foxglove show of its topics."""
