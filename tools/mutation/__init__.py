"""Small wrong edits of what a verdict rests on: each has to fail a test (see docs/trust.md)."""
