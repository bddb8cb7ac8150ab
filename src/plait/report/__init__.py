"""Reports: a result as people, editors and other tools read it."""
