"""The results of floating-point instructions, for all lanes at once."""
