"""A question that takes long in, a process of its own out, which tells how far it is."""
