"""Systems of first order with dry friction of two states."""
