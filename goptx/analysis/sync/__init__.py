"""Where threads of a kernel wait for each other: barriers, spin loops, spans that must not be disturbed."""
