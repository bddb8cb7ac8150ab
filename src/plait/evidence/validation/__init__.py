"""Validation of violation witnesses: a search for an execution that follows one."""
