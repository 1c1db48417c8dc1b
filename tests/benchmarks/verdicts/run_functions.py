"""Calls the test functions of a file, as pytest would, and prints the names of those that fail.

  run_functions.py FILE   what the file imports is looked for in the current folder
"""

import os
import runpy
import sys

sys.path[0] = os.getcwd()
for name, function in runpy.run_path(sys.argv[1]).items():
    if name.startswith("test_"):
        try:
            function()
        except Exception:
            print(name)
