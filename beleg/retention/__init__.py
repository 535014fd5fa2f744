"""What is no longer kept: pruned by age, forgotten by reference, tenant or person."""
