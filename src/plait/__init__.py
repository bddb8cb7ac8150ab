"""plait: verify every way the threads of a C program can interleave."""

__version__ = "0.1.0"
