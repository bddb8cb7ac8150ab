"""Monitors: properties as automata that watch the events of a program."""
