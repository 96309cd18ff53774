"""The elements of ``<grouser>``, one file or folder a family: its rows of the table and its checks."""
