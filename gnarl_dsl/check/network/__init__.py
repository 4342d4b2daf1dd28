"""Lines that say what a network reads in, checked windows and messages out."""
