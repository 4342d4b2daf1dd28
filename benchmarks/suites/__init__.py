"""Benchmarks that others published, played by our policies: a page of docs/results each out."""
