"""A problem in, a policy that learns from the best of its own episodes and the experts' out."""
