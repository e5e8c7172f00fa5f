"""Rewritten graphs on the device: made, tried in place, chosen by their times, and launched."""
