"""A pool and experts that are made for each instance in, what they need to know out."""
