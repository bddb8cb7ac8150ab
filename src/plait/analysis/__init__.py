"""Whole-program analyses that every engine may use: what can point where, what threads share."""
