"""Evidence: counterexamples that replay."""
