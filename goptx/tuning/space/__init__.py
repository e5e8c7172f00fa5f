"""The space of candidates that the tuner searches."""
