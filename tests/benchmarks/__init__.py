"""What is measured, and against what: each module runs alone as `python -m tests.benchmarks.NAME`."""
