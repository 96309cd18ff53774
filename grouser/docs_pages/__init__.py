"""Makers of the pages of docs/ that follow from tables of the program."""
