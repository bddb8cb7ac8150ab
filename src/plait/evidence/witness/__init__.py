"""Witnesses: results in the formats that other verifiers read, and theirs read back.

`write` turns a result into text, `read` turns text into a `Witness`. See docs/witnesses.md.
"""
