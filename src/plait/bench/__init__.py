"""Running plait on many tasks."""
