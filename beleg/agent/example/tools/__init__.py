"""The tools of the ten modules that are no flow; importing one declares its tools in `groups`."""
