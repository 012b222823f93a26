"""Pure functions between messages and each provider's format: plain dicts in and out, nothing lost.

One module per format; no sockets, no SDKs.
"""
