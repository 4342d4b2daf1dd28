"""Small graphs in, every state that legal picks can reach out."""
