"""The unbounded engine: lazy abstraction with interpolants for threads.

After Wachter, Kroening and Ouaknine, "Verifying Multi-threaded Software with Impact" (FMCAD 2013);
see docs/impact.md.
"""
