"""A problem or a tree in, text for people out."""
