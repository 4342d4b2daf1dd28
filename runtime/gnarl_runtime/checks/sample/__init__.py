"""Random instances in, plays and what they break out."""
