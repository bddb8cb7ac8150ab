"""Weak memory models in the engine `orders`: docs/orders.md says how."""
