"""Symbolic execution of blocks: what engines that reason about formulas are written on.

`Executor.block` (execute.py) gives the next block of a thread at a `Location`; docs/symbolic.md
explains the parts.
"""
