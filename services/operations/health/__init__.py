"""What stands still and why: one reading for `status`, metrics and alerts (`state.read_health`), and its alerts."""
