"""Benchmarks: counted work, and ratios of times taken in one process one after the other. See RESULTS.md.

Each module but this package's own has `measure() -> list[Measurement]`, and is run by its name:
`python -m benchmarks sqlite_appends`.
"""
