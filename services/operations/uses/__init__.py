"""What facts are used for: counted daily from stored contexts, and shown to people."""
