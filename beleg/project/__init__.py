"""A project of the user's own: wiring, policies and data folders around an installation of the wheel."""
