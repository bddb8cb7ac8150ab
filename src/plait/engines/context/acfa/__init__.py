"""Context inference as the thesis has it (Jhala, chapter 5: CIRC): the other threads of a thread as
abstract control-flow automata with counters. On request, beside the method of the engine."""
