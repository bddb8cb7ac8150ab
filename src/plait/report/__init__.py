"""Results for people and for other tools."""
