"""What matrix instructions compute, and how their operands lie in registers."""
