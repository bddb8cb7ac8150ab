"""The modular engine: each thread on its own, against a summary of all others (docs/modular.md)."""
