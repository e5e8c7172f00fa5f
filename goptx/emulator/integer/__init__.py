"""What integer instructions compute, for all lanes at once."""
