"""A checked problem in; out: the interpreter, its IR and compiled kernels."""
