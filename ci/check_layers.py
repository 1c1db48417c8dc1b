#!/usr/bin/env python3
"""Holds the layers, the sizes and a few habits of the code, and says which line breaks them.

Third parties are kept in by linking; this keeps our own layers: what a folder may include is listed
below. A file over its size limit is a decision, and stands in LARGER with its reason.
"""

import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Folder: the folders whose headers it may include, beside its own.
LAYERS = {
    "checks/records": [],
    "checks/engine": ["checks/records"],
    "checks/signals": ["checks/engine", "checks/records"],
    "checks/catalog": ["checks/signals", "checks/engine", "checks/records"],
    "checks/observe": ["checks/engine", "checks/records", "dlcheck"],
    "include/dlcheck": ["checks/records", "dlcheck"],
    "fixtures/format": ["checks/records", "dlcheck"],
    "fixtures/import": ["fixtures/format", "checks/records"],
    "fixtures/command": ["fixtures/import", "fixtures/format", "checks/records"],
    "diagnostics/cli": ["diagnostics", "checks"],
    "diagnostics": ["checks/engine", "checks/records"],
    "reference": ["fixtures/format", "checks/records", "dlcheck"],
}

# Packages of the Python probe, lowest first: each may import from those before it.
PROBE = "checks/observe/python/dlcheck_shim/"
PRIVATE = PROBE + "torch_api/private.py"  # the one file that may name what torch calls private
NOT_OF_TORCH = {"_getframe", "_exit", "_fields"}  # private names of Python itself
PROBE_LAYERS = ("system", "moments", "torch_api", "autograd", "record", "state", "source", "hooks", "distributed", "experiments", "watch")

# Folders where third-party headers of torch may be included.
TORCH = ("checks/observe", "include/dlcheck", "fixtures/programs", "fixtures/models", "reference")

LIMITS = {".h": 120, ".cc": 300, ".py": 300}
SHARED = ("checks/catalog/examples/", "checks/catalog/findings/", "checks/catalog/catalog.")
CHECK_LIMIT = 200  # a quarter of it are texts and lines of code for users, in two languages
FUNCTION_LIMIT = 40

# File: its own limit and the reason.
LARGER = {
    "checks/engine/check.h": (135, "one value that every check is, all its fields beside each other"),
    "include/dlcheck/probe.h": (170, "every call that a program may make, each with what it means"),
    "checks/catalog/initialization/wrong_initial_loss.cc": (205, "five settings, each with its measurement"),
    "checks/catalog/gradients/exploding.cc": (240, "three settings, each with its measurement, and what is a new level"),
    "checks/observe/python/dlcheck_shim/hooks/step.py": (320, "one step of an optimizer, from its arguments to the clock"),
}

INCLUDE = re.compile(r'^#include "([^"]+)"')
TORCH_INCLUDE = re.compile(r'^#include [<"](torch/|ATen/|c10/)')
FUNCTION = re.compile(r"^(?!namespace|struct|class|enum|union|extern|#|//)\S.*[)\w] \{$")
TEXT = re.compile(r'"(\\.|[^"\\])*"|//.*')


def sources():
    for pattern in ("*.h", "*.cc", "*.py"):
        for path in ROOT.rglob(pattern):
            relative = path.relative_to(ROOT)
            if relative.parts[0].startswith((".", "build", "dlcheck-out")):
                continue
            yield relative, path.read_text().splitlines()


def layer_of(name):
    """The longest folder of LAYERS that the file lies in."""
    fitting = [layer for layer in LAYERS if name.startswith(layer + "/")]
    return max(fitting, key=len) if fitting else None


def broken_includes(name, lines):
    layer = layer_of(name)
    if layer is None:
        return
    for number, line in enumerate(lines, 1):
        if TORCH_INCLUDE.match(line) and not name.startswith(TORCH):
            yield f"{name}:{number}: torch is not to be included here"
        match = INCLUDE.match(line)
        if not match or "/" not in match.group(1):
            continue
        included = match.group(1)
        if not included.startswith(("checks/", "diagnostics/", "fixtures/", "reference/", "dlcheck/")):
            continue
        allowed = [layer.removeprefix("include/")] + LAYERS[layer]
        if not any(included.startswith(folder + "/") for folder in allowed):
            yield f"{name}:{number}: {layer} may not include {included}"


def broken_imports(name, lines):
    """Imports of the probe that go up its layers."""
    if not name.startswith(PROBE):
        return
    package = name[len(PROBE):].split("/")[:-1]
    own = PROBE_LAYERS.index(package[0]) if package else len(PROBE_LAYERS)
    for node in ast.walk(ast.parse("\n".join(lines))):
        if not isinstance(node, ast.ImportFrom) or node.level == 0:
            continue
        above = package[: len(package) - node.level + 1]
        parts = [*above, *(node.module.split(".") if node.module else [node.names[0].name])]
        if parts[0] in PROBE_LAYERS and PROBE_LAYERS.index(parts[0]) > own:
            yield f"{name}:{node.lineno}: imports from {parts[0]}, a layer above"


def private_names(name, lines):
    """Private names of torch outside the one file that may have them: as attributes, and as texts."""
    if not name.startswith(PROBE) or name == PRIVATE:
        return
    for node in ast.walk(ast.parse("\n".join(lines))):
        used = None
        if isinstance(node, ast.Attribute) and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")):
            used = node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            used = node.value
        if used and re.fullmatch(r"_[A-Za-z]\w*", used) and used not in NOT_OF_TORCH:
            yield f"{name}:{node.lineno}: {used} is a private name of torch, which stands in {PRIVATE}"


def over_size(name, lines):
    if name.startswith("tests/"):
        return
    limit = LIMITS[pathlib.Path(name).suffix]
    if name.startswith("checks/catalog/") and not name.startswith(SHARED):
        limit = CHECK_LIMIT
    if name in LARGER:
        limit = LARGER[name][0]
    if len(lines) > limit:
        yield f"{name}: {len(lines)} lines, the limit is {limit}; part it, or give a reason in LARGER"


def long_functions(name, lines):
    if not name.endswith((".cc", ".h")) or name.startswith("tests/"):
        return
    start = None
    for number, line in enumerate(lines, 1):
        if start is None and FUNCTION.match(line) and "=" not in line:
            start = number
        elif start is not None and line == "}":
            # A check's metadata is one expression, and no longer a function than a table is.
            length = number - start + 1
            metadata = name.startswith("checks/catalog/") and lines[start].strip() == "return {"
            if length > FUNCTION_LIMIT and not metadata:
                yield f"{name}:{start}: a function of {length} lines, the limit is {FUNCTION_LIMIT}"
            start = None


def throws(name, lines):
    if name.startswith(("reference/", "tests/", "fixtures/models/", "fixtures/programs/")):
        return
    if not name.endswith((".cc", ".h")):
        return
    for number, line in enumerate(lines, 1):
        if re.search(r"\bthrow\b", TEXT.sub("", line)):
            yield f"{name}:{number}: no exceptions outside reference/"


def main():
    faults = []
    for relative, lines in sources():
        name = relative.as_posix()
        for habit in (broken_includes, broken_imports, private_names, over_size, long_functions, throws):
            faults.extend(habit(name, lines))
    for fault in sorted(faults):
        print(fault)
    print(f"check_layers: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
