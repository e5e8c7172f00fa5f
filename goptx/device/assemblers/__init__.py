"""The assemblers of this machine: where they are, and what PTX they take."""
