"""Findings in, text and JSON out."""
