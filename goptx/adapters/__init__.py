"""Fused kernels within other frameworks."""
