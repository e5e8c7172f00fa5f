"""Compares a fused kernel with its kernels alone, on the emulator."""
