"""Text of a spec in, its syntax tree out, or every syntax error of the file."""
