"""A policy and instances in, how well it does out."""
