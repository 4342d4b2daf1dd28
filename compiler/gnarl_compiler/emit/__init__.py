"""An IR program in, the text of a Python module of batched kernels out."""
