"""Speed against limits and peers, measured in the same run: `python -m benchmarks`."""
