"""Proofs from traces: one interleaving after the other is proved; what proves it accepts others.

After Narayan, Sharma, Guha and Arun-Kumar, *From Traces To Proofs*; see docs/traces.md.
"""
