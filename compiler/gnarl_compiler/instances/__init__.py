"""A family of graphs and a seed in, instances of a problem out."""
