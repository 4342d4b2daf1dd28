"""Measurements, run from the checkout: `python -m benchmarks.paper --help` and its neighbours."""
