"""Arrays of a batch in, answers out: what generated kernels call, compiled by Numba."""
