"""Places where kernels are judged and timed, each a process of its own."""
