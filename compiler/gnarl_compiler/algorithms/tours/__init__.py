"""Distances in, short or shortest tours out."""
