"""A policy or none and instances in, played episodes out: one each, or the best of many."""
