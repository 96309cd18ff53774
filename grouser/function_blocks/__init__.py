"""Control programs as function block diagrams: blocks wired between measurements, operator inputs and commands.

The logic of a machine's controller, in the blocks of IEC 61131-3 and a few of control engineering (`blocks`, one file
each). `reader` makes a `Diagram` of a YAML file, `checks` finds the order of its blocks and what is wired wrongly,
`run` executes it beside a simulation, `drawing` draws it. docs/function_blocks.md describes the files.
"""
