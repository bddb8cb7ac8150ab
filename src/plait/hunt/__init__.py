"""Run the real program under our scheduler, again and again, until it fails or nothing is left.

`build` compiles the program with hooks, or wraps the compiler of its own build; `run` executes
one schedule; `schedule` and `trace` are what goes in and what comes out; `policies` and `dpor`
choose the next schedule; `confirm` shows a failure again; `search` is the loop around them.
"""
