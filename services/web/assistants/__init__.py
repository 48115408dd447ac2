"""Tools for other assistants over the Model Context Protocol at `/mcp`: each tool is a route of the API.

A call becomes a request to that route with the caller's own token, so scopes, rates, checks and errors are the API's.
"""
