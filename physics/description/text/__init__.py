"""Readers of text: files, xacro, XML, YAML, numbers and grids, with file and line for messages."""
