"""The attitude controller node."""
