"""Whether an installation works, and what to do if it does not."""
