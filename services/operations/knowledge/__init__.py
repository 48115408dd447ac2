"""The knowledge base as people meet it; learn_documents decides everything.

sources.py   what is meant by paths and addresses: files, folders, pages, lists
pages.py     one web page, fetched within limits
requests.py  handing in and asking, as events, and what became of them
listing.py   documents, their editions and passages, proposed articles
"""
