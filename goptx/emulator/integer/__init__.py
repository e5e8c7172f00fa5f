"""The results of integer instructions, for all lanes at once."""
