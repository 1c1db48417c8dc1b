"""python -m dlcheck.run [OPTIONS --] SCRIPT|-m MODULE [ARGUMENTS]: watches one Python program.

The same as `dlcheck run -- python SCRIPT`, for interpreters that ignore PYTHONPATH (`python -I`, `-E`)
and for debuggers: the program runs in an interpreter started just as this one.
"""

import os
import runpy
import subprocess
import sys

from . import binary, shim


def split(words):
    """The options of dlcheck, and the program with its arguments."""
    if "--" in words:
        at = words.index("--")
        return words[:at], words[at + 1 :]
    return [], words


def become_watched(words):
    """Starts `dlcheck run`, which starts this module again, now under a request."""
    options, program = split(words)
    if not program or program[0] in ("-h", "--help"):
        sys.exit(__doc__.strip())
    interpreter = [sys.executable, *subprocess._args_from_interpreter_flags()]
    command = [binary.path(), "run", *options, "--", *interpreter, "-m", "dlcheck.run", *program]
    os.execv(command[0], command)


def run(program):
    """Runs the program in this process, as `python SCRIPT` or `python -m MODULE` would."""
    if program[0] == "-m":
        module, sys.argv = program[1], program[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        return
    sys.argv = program
    if not sys.flags.isolated:
        sys.path[0] = os.path.dirname(os.path.abspath(program[0]))
    runpy.run_path(program[0], run_name="__main__")


def main():
    words = sys.argv[1:]
    request = os.environ.get(shim.REQUEST)
    if request is None:
        become_watched(words)
    if "dlcheck_shim" not in sys.modules:
        boot = shim.boot_folder(request)
        shim.load(boot).start(boot)
    run(split(words)[1])


if __name__ == "__main__":
    main()
