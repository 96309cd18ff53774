"""Linear servo loops and their frequency response."""
