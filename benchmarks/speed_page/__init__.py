"""Benchmarks of speed, one after another, in; docs/results/speed.md out."""
