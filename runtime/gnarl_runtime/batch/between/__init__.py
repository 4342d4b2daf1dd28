"""Pointers of edges or pairs in, what messages tell of them out."""
