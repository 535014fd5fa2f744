"""The commands on contracts and prompts."""
