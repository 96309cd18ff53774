"""Makers of the pages in docs/ that are written from the code."""
