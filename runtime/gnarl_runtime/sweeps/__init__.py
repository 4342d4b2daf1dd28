"""A study file in, many trained runs and the best recipe out; Optuna says what to try next."""
