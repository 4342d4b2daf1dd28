"""Arrays and seeds in; out: graphs, instances of a problem, random streams."""
