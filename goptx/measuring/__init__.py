"""Measures kernels on a GPU: right and fast (bench), and what Nsight Compute counts of them (profiling)."""
