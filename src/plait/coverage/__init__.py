"""Which lines of a program can be reached, with an execution for each; and which cannot."""
