"""Instances in, pools with solved oracles and instance files out, and back."""
