"""Graphs of launches: which of them are independent, which are fused, and graphs that do the same with less waiting."""
