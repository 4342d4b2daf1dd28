"""Packed states in, scores of nodes and values of graphs out."""
