"""Soft ground: soils, terramechanics of wheels, and the deformation that wheels leave."""
