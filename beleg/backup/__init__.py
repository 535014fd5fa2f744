"""Backups: an installation as it was at one publication, and the way back."""
