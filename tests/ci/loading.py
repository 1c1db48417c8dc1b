"""Scripts of ci/ as modules."""

import importlib.machinery
import importlib.util
import pathlib

CI = pathlib.Path(__file__).resolve().parents[2] / "ci"


def script(name):
    loader = importlib.machinery.SourceFileLoader(name.removesuffix(".py"), str(CI / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module
