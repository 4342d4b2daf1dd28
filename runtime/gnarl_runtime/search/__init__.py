"""A policy and instances in, played episodes out."""
