"""A problem and rewards in, a policy that learns from them out."""
