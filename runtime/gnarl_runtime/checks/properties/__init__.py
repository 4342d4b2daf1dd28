"""Explored spaces and plays in, properties that they break out."""
