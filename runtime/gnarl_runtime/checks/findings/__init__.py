"""Wishes in; out: what a check can say."""
