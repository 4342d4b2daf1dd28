"""Text of a spec in, the same spec in house style out."""
