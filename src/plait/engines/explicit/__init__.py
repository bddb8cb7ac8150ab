"""The engine that enumerates states: docs/explicit.md."""
