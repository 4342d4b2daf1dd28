"""An IR program in, a better one with the same meaning out."""
