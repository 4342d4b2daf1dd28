"""A problem in; out: what of a state decides its future, and searches that prove optima by it."""
