"""A folder of specs in, a live page out: edit, play, check, train and solve in a browser."""
