"""A problem and an expert in, a policy that plays like it out."""
