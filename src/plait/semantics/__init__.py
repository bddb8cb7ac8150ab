"""The reference semantics: an interpreter of the model, and on it `run` and `explore`."""
