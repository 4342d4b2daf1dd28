"""Kernels in: how Python calls them without naming their arrays, and how they call Python."""
