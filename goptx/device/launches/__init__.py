"""Launches that are prepared once and started again and again."""
