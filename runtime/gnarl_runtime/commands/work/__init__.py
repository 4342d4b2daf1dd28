"""Parsed arguments in, the work of a command out; imported when it is asked for."""
