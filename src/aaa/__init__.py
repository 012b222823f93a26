"""Context management for long-running LLM agents.

Import what you need from the package that holds it: `aaa.context` (policies, strategies, counters, the fitter),
`aaa.messages` (the data), `aaa.wire` (provider formats), `aaa.errors` (every exception). This module itself imports
nothing, so that `import aaa` costs nothing.
"""

__version__ = "0.1.0"
__all__ = ["__version__"]
