"""Commands for the kernels and launches of a whole program."""
