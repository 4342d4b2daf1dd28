"""Specs and networks in, seconds and megabytes out: `make bench`, or one module after `-m`."""
