"""Graph files of other tools and other libraries' graphs in, instances of a problem out."""
