"""Makes a fork of a process that has torch the program that somebody wants to run.

The program sees itself started as `python -W ignore PROGRAM ...`, but for a torch that is there already.
"""

import os
import pathlib
import sys
import types


def become(request, streams):
    """Takes the environment, the folder, the three streams and the arguments of the program; returns its source
    and the name of its file."""
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for stream in streams:
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    words = request["words"]
    if words[0] == "-c":
        sys.argv = ["-c", *words[2:]]
        sys.path[0] = ""
        return words[1], "<string>"
    sys.argv = words
    sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
    return pathlib.Path(words[0]).read_text(), words[0]


def add_path(request):
    """What PYTHONPATH adds behind the folder of the program, as Python does when it starts."""
    added = [folder for folder in request["environment"].get("PYTHONPATH", "").split(os.pathsep) if folder]
    sys.path[1:1] = added
    return added


def reseed():
    """What is drawn where a process begins, and would be the same in all forks."""
    import random

    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()


def main_module(file):
    module = types.ModuleType("__main__")
    if file != "<string>":
        module.__file__ = file
    sys.modules["__main__"] = module
    return vars(module)


def customize(folders):
    """Runs the first sitecustomize.py of these folders, as Python does when it starts: there the probe begins."""
    import importlib.util

    file = next((path for path in (os.path.join(f, "sitecustomize.py") for f in folders) if os.path.exists(path)), None)
    if file is None:
        return
    spec = importlib.util.spec_from_file_location("sitecustomize", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    try:
        spec.loader.exec_module(module)
    except ImportError as error:  # there is no other one, as site knows, too
        if error.name != "sitecustomize":
            raise
        del sys.modules["sitecustomize"]
