"""Certificates of proofs for any number of threads (docs/certificates.md): reading and checking.

What is said of one thread, and of the places where it can be, is said of all that begin like it.
"""
