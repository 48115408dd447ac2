"""The knowledge base as people meet it: handing in, asking, reading. learn_documents decides everything."""
