"""Instructions with effects on memory, registers or other lanes."""
