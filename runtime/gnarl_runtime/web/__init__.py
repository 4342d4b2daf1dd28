"""Requests of this machine's browsers and programs in, answers out: what every server shares."""
