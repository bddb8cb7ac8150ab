"""What engines share that explore sequences of blocks of `plait.symbolic`: which blocks depend on
each other, critical sections as single steps, and how a path or a proof leaves the engine.
"""
