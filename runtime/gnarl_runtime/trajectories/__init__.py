"""Episodes of experts in, CLRS-style probes out: recorded, kept in a file, handed to others."""
