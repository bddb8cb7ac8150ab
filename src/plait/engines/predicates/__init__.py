"""Lazy abstraction: a reachability tree of predicates, of each as many as its place needs.

After Jhala, *Lazy Abstraction*, chapter 3; see docs/predicates.md.
"""
