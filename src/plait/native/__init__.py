"""Native replay: a counterexample of the model, executed in the compiled program.

A plan (`plan`) says what the threads do, in order. The program is compiled with hooks before every
access to memory and linked with a runtime of plait's own (`runtime/`, in C), which lets one thread
run at a time and follows the plan (`project`, `build`). A run (`execute`) ends in the failure, or
says where it differs from the plan. Only `plait replay` calls this: it executes the user's code.
"""
