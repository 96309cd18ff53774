"""The elements of ``<grouser>``: each family in a file or folder with its rows of the table and its checks."""
