"""A syntax tree in, a checked `Problem` out, or every mistake found on the way."""
