"""What every part of the library stands on: settings, errors, contracts."""
