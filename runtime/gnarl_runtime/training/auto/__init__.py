"""A problem without a recipe in, a recipe for it out, and what it was chosen by."""
