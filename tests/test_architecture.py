"""The shape of the code: imports point down, packages say what they hold, imports load little."""

import ast
import graphlib
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from symtable import symtable

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src"

# From the top down. A package may import itself and what stands on a lower line.
LINES = [
    {"aaa.cli"},
    {"aaa.proxy", "aaa.inspector", "aaa.integrations", "aaa.runtime.temporal"},
    {"aaa.simulate", "aaa.algos"},
    {"aaa.runtime"},
    {"aimu"},  # beside the others: uses what is below, and nothing of aaa may import it
    {"aaa.llm", "aaa.tools"},
    {"aaa.context"},
    {"aaa.wire"},
    {"aaa.messages"},
    {"aaa.errors"},
    {"aaa"},
]
LEVELS = {package: level for level, line in enumerate(reversed(LINES)) for package in line}

# Loaded when they are first used, never by an import of ours.
HEAVY = {
    *("anthropic", "openai", "google", "ollama", "transformers", "llama_cpp", "torch", "tiktoken", "toktok"),
    *("pydantic", "typer", "rich", "click", "httpx", "requests", "starlette", "uvicorn", "asyncpg", "temporalio"),
    *("genai_prices", "mcp", "numpy"),
}


def sources() -> dict[str, str]:
    """Every module under `src` by its name, as text."""
    found: dict[str, str] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        found[name] = path.read_text(encoding="utf-8")
    return found


def package_of(module: str) -> str | None:
    """The architectural package a module belongs to: the longest name in `LEVELS` that it is or stands under."""
    owners = [package for package in LEVELS if f"{module}.".startswith(f"{package}.") and package != "aaa"]
    return max(owners, key=len, default="aaa" if module == "aaa" else None)


def imports_of(source: str, known: Mapping[str, str]) -> Iterator[str]:
    """Our own modules that `source` imports, wherever in it; a name that is a module counts as that module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            deeper = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in known else str(node.module) for name in deeper]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] in ("aaa", "aimu"))


def upward_imports(modules: Mapping[str, str]) -> list[str]:
    """Imports that do not point down, as `importer -> imported`."""
    wrong: list[str] = []
    for module, source in modules.items():
        for imported in imports_of(source, modules):
            here, there = package_of(module), package_of(imported)
            is_down = here is not None and there is not None and LEVELS[there] < LEVELS[here]
            if here != there and (not is_down or there == "aimu"):
                wrong.append(f"{module} -> {imported}")
    return wrong


def cycle_in(modules: Mapping[str, str]) -> list[str]:
    """One circle of modules that import each other, if there is any."""
    graph = {module: set(imports_of(source, modules)) for module, source in modules.items()}
    try:
        tuple(graphlib.TopologicalSorter(graph).static_order())
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def test_every_module_belongs_to_a_package_that_has_its_line():
    assert [module for module in sources() if package_of(module) is None] == []


def test_imports_point_down():
    assert upward_imports(sources()) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("aaa.context.work", "from aaa.llm import window_of"),
        ("aaa.context.work", "def late():\n    import aaa.runtime.engine"),
        ("aaa.context.work", "if TYPE_CHECKING:\n    from aaa.tools import tool"),
        ("aaa.llm.client", "from aaa.tools import tool"),
        ("aaa.tools.recall", "from aimu import tool"),
        ("aaa.runtime.engine", "from aimu import agent"),
        ("aaa.cli.main", "from aimu import agent"),
        ("aaa.runtime.engine", "from aaa.runtime.temporal import dispatcher"),
        ("aaa.runtime.engine", "from aaa.runtime import temporal"),
        ("aaa.errors", "from aaa.messages import Message"),
        ("aaa.wire.format", "from aaa.context import groups"),
        ("aimu.agent", "from aaa.runtime import engine"),
        ("aaa.unheard_of.module", "import aaa.errors"),
        ("aaa.messages.message", "import aaa.unheard_of"),
    ],
)
def test_an_import_that_points_up_or_aside_is_noticed(module, source):
    known = {module: source, "aaa.runtime": "", "aaa.runtime.temporal": ""}
    assert len(upward_imports(known)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("aaa.cli.main", "import aaa.proxy, aaa.runtime.temporal, aaa.messages"),
        ("aaa.runtime.temporal.worker", "from aaa.runtime.engine import Engine"),
        ("aaa.messages.message", "from aaa.errors import AaaError"),
        ("aaa.context.work", "from aaa.context.edits import Edit"),
        ("aimu.agent", "from aaa.llm import window_of"),
        ("aaa.context.work", "import json, msgspec"),
    ],
)
def test_an_import_that_points_down_is_allowed(module, source):
    assert upward_imports({module: source, "aaa.runtime.engine": ""}) == []


def test_no_modules_import_each_other_in_a_circle():
    assert cycle_in(sources()) == []


def test_a_circle_is_noticed():
    modules = {"aaa.a": "from aaa.b import x", "aaa.b": "def late():\n    import aaa.c", "aaa.c": "from aaa import a"}
    assert set(cycle_in(modules)) == set(modules)


def test_every_folder_of_modules_is_a_package():
    folders = {path.parent for path in SOURCE.rglob("*.py") if path.parent != SOURCE}
    assert [str(folder.relative_to(SOURCE)) for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_every_module_says_what_it_holds():
    assert [name for name, source in sources().items() if not ast.get_docstring(ast.parse(source))] == []


def test_every_package_lists_its_public_names_once():
    for path in sorted(SOURCE.rglob("__init__.py")):
        source = path.read_text(encoding="utf-8")
        imported = [node for node in ast.parse(source).body if isinstance(node, ast.ImportFrom)]
        names = _names_listed(source)
        if imported:
            assert names is not None, path
        if names is not None:
            assert len(names) == len(set(names)), path  # their order is the linter's


def _names_listed(source: str) -> list[str] | None:
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__all__"]:
            return ast.literal_eval(node.value)
    return None


def undefined_names(name: str, source: str) -> list[str]:
    """Names in `__all__` that the module neither defines nor imports."""
    table = symtable(source, name, "exec")
    defined = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    return [f"{name}.{public}" for public in _names_listed(source) or () if public not in defined]


def test_every_public_name_exists():
    assert [missing for name, source in sources().items() for missing in undefined_names(name, source)] == []


def test_a_public_name_that_does_not_exist_is_noticed():
    source = "from json import loads\nclass Box: ...\nprint(other)\n__all__ = ['Box', 'loads', 'other', 'third']"
    assert undefined_names("m", source) == ["m.other", "m.third"]


def undocumented(source: str) -> list[str]:
    """Public functions, classes and methods without a docstring. What a decorator writes or overloads is exempt."""
    found: list[str] = []

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or node.name.startswith("_"):
                continue
            decorators = {ast.unparse(decorator).split(".")[-1] for decorator in node.decorator_list}
            if not decorators & {"overload", "setter", "override"} and not ast.get_docstring(node):
                found.append(prefix + node.name)
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{prefix}{node.name}.")

    visit(ast.parse(source).body, "")
    return found


def test_every_public_function_class_and_method_says_what_it_is():
    assert [f"{name}: {thing}" for name, source in sources().items() for thing in undocumented(source)] == []


def test_a_missing_docstring_is_noticed():
    source = "class Box:\n    'A box.'\n    def open(self): ...\n    def _hide(self): ...\nasync def run(): ...\n"
    assert undocumented(source) == ["Box.open", "run"]


def loaded_by(statement: str) -> set[str]:
    """Third-party packages, by their top name, that a fresh interpreter loads for `statement`."""
    code = (
        f"import sys\nbefore = set(sys.modules)\n{statement}\n"
        "print(*{name.split('.')[0] for name in set(sys.modules) - before} - sys.stdlib_module_names)"
    )
    run = [sys.executable, "-c", code]
    result = subprocess.run(run, capture_output=True, text=True, check=True, timeout=60)
    return set(result.stdout.split()) - {"aaa", "aimu"}


@pytest.mark.parametrize("module", ["aaa", "aimu", "aaa.errors", "aaa.messages", "aaa.wire", "aaa.context"])
def test_an_import_loads_no_third_party_package_but_msgspec(module):
    brought_by_msgspec = {"typing_extensions"}  # where it is installed
    assert loaded_by(f"import {module}") <= {"msgspec", *brought_by_msgspec}


LIGHT = {"aaa", "aimu", "aaa.context", "aaa.runtime", "aaa.llm", "aaa.tools", "aaa.algos", "aaa.simulate"}


@pytest.mark.parametrize("module", sorted(LIGHT & set(sources())))
def test_an_import_loads_no_provider_sdk_and_no_terminal_library(module):
    assert loaded_by(f"import {module}") & HEAVY == set()


def test_the_rules_of_providers_are_loaded_with_the_first_provider():
    """They are some fifty modules, and most programs that import the context need none."""
    code = "import sys, aaa.context, aimu\nprint(*[name for name in sys.modules if name.startswith('aaa.wire.rules')])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout.split() == []


def test_a_bare_import_of_aaa_loads_nothing_else_of_it():
    code = "import sys, aaa\nprint(*sorted(name for name in sys.modules if name.split('.')[0] == 'aaa'))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout.split() == ["aaa"]


def test_a_heavy_import_is_noticed():
    assert "pydantic" in loaded_by("import pydantic")
