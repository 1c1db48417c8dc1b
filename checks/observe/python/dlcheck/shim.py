"""Starts the probe in this very process, for a run that a `dlcheck run` outside has prepared."""

import importlib.util
import os
import sys
import urllib.parse

REQUEST = "DLCHECK_REQUEST"  # the variable that names a run's request


def boot_folder(request):
    """The folder that a run keeps for Python, beside its request."""
    return os.path.join(os.path.dirname(request), "boot")


def load(boot):
    """The package `dlcheck_shim` that the run's own request names."""
    if "dlcheck_shim" in sys.modules:
        return sys.modules["dlcheck_shim"]
    package = os.path.join(value_of("shim", boot), "dlcheck_shim")
    spec = importlib.util.spec_from_file_location(
        "dlcheck_shim",
        os.path.join(package, "__init__.py"),
        submodule_search_locations=[package],
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["dlcheck_shim"] = module
    spec.loader.exec_module(module)
    return module


def value_of(key, boot):
    with open(os.path.join(boot, "request"), encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            name, _, value = line.rstrip("\n").partition("\t")
            if name == key:
                return urllib.parse.unquote(value, errors="surrogateescape")
    raise ValueError(f"the request in {boot} has no {key}")
