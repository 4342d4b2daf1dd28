"""A failure in, its smallest counterexample out: replayed, shrunk, told, kept."""
