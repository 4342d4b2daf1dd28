"""A problem in, its kernels out: generated, written once, imported."""
