"""What floating-point instructions compute, for all lanes at once."""
