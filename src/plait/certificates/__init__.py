"""Certificates of safety, and a checker that shares no code with the engines that write them.

A certificate is a tree of sets of states that no execution leaves (docs/certificates.md). The
checker executes every step of the program symbolically and lets z3 decide; engines decide with
their own SAT solver. Only the program model and the term language are common.
"""
