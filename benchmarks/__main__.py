"""Run benchmarks and print their figures: `python -m benchmarks [--json] [module …]`."""

import argparse
import importlib
import json
import pkgutil
import platform
import sqlite3
import sys
from dataclasses import asdict

import benchmarks
from benchmarks.measurement import Measurement

_OWN = {"__main__", "measurement"}


def main() -> None:
    """Run all benchmarks, or those named."""
    known = sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name not in _OWN)
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Run benchmarks.")
    parser.add_argument("names", nargs="*", metavar="module", help=f"one or more of: {', '.join(known)}; default: all")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(known))
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; there are: {', '.join(known)}")
    results: dict[str, list[Measurement]] = {}
    for name in arguments.names or known:
        results[name] = importlib.import_module(f"benchmarks.{name}").measure()
        if not arguments.json:
            print(_table(name, results[name]), flush=True)
    if arguments.json:
        print(json.dumps({"machine": _machine(), "benchmarks": _plain(results)}, indent=2))


def _table(name: str, measurements: list[Measurement]) -> str:
    width = max(len(measurement.name) for measurement in measurements)
    lines = [f"{m.name:<{width}}  {m.value:>12,.2f} {m.unit:<12} {m.target}".rstrip() for m in measurements]
    return "\n".join([f"{name}", *(f"  {line}" for line in lines), ""])


def _plain(results: dict[str, list[Measurement]]) -> dict[str, list[dict[str, object]]]:
    return {name: [asdict(measurement) for measurement in measurements] for name, measurements in results.items()}


def _machine() -> dict[str, object]:
    return {
        "python": sys.version.split()[0],
        "sqlite": sqlite3.sqlite_version,
        "system": platform.platform(),
        "processor": platform.machine(),
    }


if __name__ == "__main__":
    main()
