"""The solver layer: bit-vector terms, their translation to clauses, and an incremental solver.

The way of a formula: `translate` turns expressions of the model into `terms`, `blast` turns terms
into the `gates` whose clauses the `solver` decides. Importing this package loads no solver.
"""
