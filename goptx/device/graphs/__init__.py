"""CUDA graphs of programs, read through the driver."""
