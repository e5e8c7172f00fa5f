"""What registers hold and which bytes a thread touches, as expressions and ranges."""
