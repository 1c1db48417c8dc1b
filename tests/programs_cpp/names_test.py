"""What dlcheck names to a C++ user exists: each qualified name in a fix compiles."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["DLCHECK_BUILD"])
HEADERS = ["torch/torch.h", "torch/csrc/autograd/profiler_legacy.h", "ATen/autocast_mode.h", "limits", "cmath"]


def fixes():
    text = subprocess.run([BUILD / "bin/dlcheck", "explain", "--language", "cpp", "*"],
                          capture_output=True, text=True, check=True).stdout  # fmt: skip
    return re.findall(r"^Fix .*\n(?:  .*\n)*", text, re.MULTILINE)


def includes():
    """The folders of LibTorch's headers, as the build uses them."""
    commands = (BUILD / "compile_commands.json").read_text()
    found = sorted(set(re.findall(r"-isystem (\S+/torch/include\S*)", commands)))
    assert found, "no folder of LibTorch in compile_commands.json"
    return [word for folder in found for word in ("-isystem", folder)]


class Names(unittest.TestCase):
    def test_each_qualified_name_in_a_fix_is_one_of_libtorch_or_of_the_standard_library(self):
        names = sorted(set(re.findall(r"\b(?:torch|at|c10|std)(?:::\w+)+", "".join(fixes()))))
        self.assertGreater(len(names), 20)
        lines = [f"#include <{header}>" for header in HEADERS]
        lines += [f"namespace named_{i} {{ using {name}; }}" for i, name in enumerate(names)]
        with tempfile.TemporaryDirectory(prefix="dlcheck-names-") as folder:
            source = pathlib.Path(folder) / "names.cc"
            source.write_text("\n".join(lines) + "\n")
            compiled = subprocess.run(["c++", "-std=c++17", "-fsyntax-only", *includes(), source],
                                      capture_output=True, text=True, check=False)  # fmt: skip
        self.assertEqual(re.findall(r"error: (.*)", compiled.stderr), [])

    def test_a_fix_names_nothing_that_is_spelled_as_in_python(self):
        self.assertEqual(re.findall(r"\b(?:torch|nn|F)\.\w+[\w.]*", "".join(fixes())), [])


if __name__ == "__main__":
    unittest.main()
