"""An engine that lives outside of plait: docs/adding-an-engine.md explains it line by line."""
