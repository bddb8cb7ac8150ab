"""The search `fusion` of a hunt: Wang, Chaudhuri, Gupta and Yang, Symbolic Pruning of Concurrent
Program Executions (ESEC-FSE 2009).

`source` has the model of the program that is hunted; `following` repeats a recorded run in the
model, `paths` gives it symbolic values: a concurrent trace program (section 2.3 of the paper) and,
with phantom edges for the branches that were not taken (`untaken`), its abstraction (section 5.1).
`formula` decides both, `search` is the enumeration that they prune.
"""
