"""Benches, on which kernels are judged and timed, each in a process of its own."""
