"""Toolsets in the formats of others. Every adapter lists from and calls through the same `Offer`."""
