"""From corrections to a gate that holds: findings, frozen cases, scores, statistics, release evidence."""
