"""The results of matrix instructions, and how their operands lie in registers."""
