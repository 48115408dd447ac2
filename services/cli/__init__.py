"""The commands of `correspondent`, one module or package each; they ask `operations`, and print."""
