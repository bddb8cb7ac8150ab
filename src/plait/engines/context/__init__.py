"""The engine for any number of threads: an invariant for each role and location, closed under what
the other threads do.

After Owicki and Gries, and chapter 5 of Jhala's thesis (CIRC); see docs/context.md.
"""
