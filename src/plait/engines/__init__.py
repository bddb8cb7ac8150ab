"""Engines: each decides properties of a program in its own way and knows no other."""
