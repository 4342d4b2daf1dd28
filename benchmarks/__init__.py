"""Measurements; `python benchmarks/env.py --help` and its neighbours."""
