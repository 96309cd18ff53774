"""Files to text, and text to elements, nodes and numbers that know where they stand."""
