"""C source in, compiled message kernels out: same values and gradients as torch."""
