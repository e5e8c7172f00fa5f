"""Measures tuned results independently of the tuner: by other code, in another process, on other data in other places
of the memory, in another order."""
