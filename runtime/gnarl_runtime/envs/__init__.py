"""A problem and instances in, episodes out: the engine, and Gymnasium shells on it."""
