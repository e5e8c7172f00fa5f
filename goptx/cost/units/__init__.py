"""Which units of the hardware instructions occupy, and which they leave to others."""
