"""Memory: vectors for texts (embeddings), and finding facts and passages by meaning (search)."""
