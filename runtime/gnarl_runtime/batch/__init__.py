"""A problem and capacities in; out: the arrays that environment, network and kernels share."""
