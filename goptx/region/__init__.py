"""Fusion regions: launches are recorded, and then done as one launch."""
