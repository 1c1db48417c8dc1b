"""Starts the probe in every Python of a watched run, then steps aside.

`dlcheck run` copies this file into the run folder, next to the request, and puts that folder first
on PYTHONPATH. Python imports it by its name at start-up. It never prints, never fails, and runs the
`sitecustomize` that the user would have had without it.
"""

import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))


def request_value(key):
    with open(os.path.join(FOLDER, "request"), encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if fields[0] == key and len(fields) > 1:
                from urllib.parse import unquote

                return unquote(fields[1], errors="surrogateescape")
    return None


def start_probe():
    import importlib.util

    package = os.path.join(request_value("shim"), "dlcheck_shim")
    spec = importlib.util.spec_from_file_location(
        "dlcheck_shim",
        os.path.join(package, "__init__.py"),
        submodule_search_locations=[package],
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["dlcheck_shim"] = module
    spec.loader.exec_module(module)
    module.start(FOLDER)


def run_next():
    """Loads the `sitecustomize` behind this one, under its usual name. Where there is none, there is none
    afterwards, as Python finds out from the error that it expects then."""
    import importlib.machinery
    import importlib.util

    others = [p for p in sys.path if os.path.abspath(p or os.curdir) != FOLDER]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        raise ImportError("there is no other sitecustomize", name="sitecustomize")
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


if os.environ.get("DLCHECK_DISABLE") != "1":
    try:
        start_probe()
    except Exception:
        if os.environ.get("DLCHECK_SHIM_RAISE") == "1":
            raise
run_next()
