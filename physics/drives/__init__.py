"""Electric drives of joints."""
