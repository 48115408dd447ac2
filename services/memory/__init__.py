"""Memory: vectors for texts (embeddings), finding facts and passages by meaning (search), and customers' words."""
