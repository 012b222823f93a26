"""Whole runs against a provider that does everything providers do wrong: each ends in success or in a clear error."""
