"""What instructions that touch memory, registers or other lanes do."""
