"""Interpolation: why a path cannot be taken, as one formula for each place on it."""
