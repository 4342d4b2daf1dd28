"""A checked problem in, an IR program out."""
