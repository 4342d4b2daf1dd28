"""Arguments of a command line in, a server on this machine's own address out."""
