"""Rewrites single kernels, before they are merged, so that they need fewer instructions: what assemblers do not do."""
