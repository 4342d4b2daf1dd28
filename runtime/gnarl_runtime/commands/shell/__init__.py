"""How a command was started in, what its streams show and what is kept of a bug out."""
