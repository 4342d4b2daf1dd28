"""Trained policies in, a server out that answers graphs with solutions, many at once."""
