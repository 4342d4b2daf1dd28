"""A problem and its spaces in, what is legal but probably not meant out."""
