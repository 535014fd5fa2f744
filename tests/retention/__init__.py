"""What is no longer kept: pruned by age, forgotten on demand."""
