"""A problem and a recipe in, a trained policy in a run folder out."""
