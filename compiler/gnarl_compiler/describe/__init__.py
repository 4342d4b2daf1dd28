"""A problem, a tree or what is registered in, text about it out."""
