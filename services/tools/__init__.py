"""What an operator runs: demo, replay, rebuild, import, erase."""
