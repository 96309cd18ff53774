"""Flexible links: discretisations of beams, their vibration modes, and the elastic links that they become."""
