"""The bounded engine: scheduling constraint based abstraction refinement (Yin et al.)."""
