"""Episodes to look at: one is recorded in the interpreter, then shown as a page or a picture."""
