"""What dlcheck tells a C++ user compiles: each qualified name in a fix, and the lines that each check shows."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
CATALOG = HERE.parent.parent / "docs/catalog.md"
BUILD = pathlib.Path(os.environ["DLCHECK_BUILD"])
HEADERS = ["torch/torch.h", "torch/csrc/autograd/profiler_legacy.h", "ATen/autocast_mode.h", "limits", "cmath"]


def fixes():
    text = subprocess.run([BUILD / "bin/dlcheck", "explain", "--language", "cpp", "*"],
                          capture_output=True, text=True, check=True).stdout  # fmt: skip
    return re.findall(r"^Fix .*\n(?:  .*\n)*", text, re.MULTILINE)


def shown_lines():
    """Pairs: a check, and what it shows as bad or good in C++."""
    pairs = []
    for part in CATALOG.read_text().split("\n## ")[1:]:
        check = part.split("\n", 1)[0]
        pairs += [(check, lines) for lines in re.findall(r"```cpp\n(.*?)\n```", part, re.DOTALL)]
    return pairs


def in_program(number, lines):
    """The lines where they may stand: types and functions in a class, statements in a function."""
    if re.match(r"torch::Tensor \w+\(", lines):
        return f"struct Case{number} : Host {{\n{lines}\n}};"
    if re.match(r"struct \w+ : ", lines):
        return f"namespace case{number} {{\n{lines}\n}}"
    kind = "torch::Tensor" if re.search(r"^return ", lines, re.MULTILINE) else "void"
    return f"struct Case{number} : Host {{\n{kind} Run() {{\n{lines}\n}}\n}};"


def compiles(text, *words):
    """Messages of the compiler's errors about a C++ file with this text."""
    with tempfile.TemporaryDirectory(prefix="dlcheck-names-") as folder:
        source = pathlib.Path(folder) / "text.cc"
        source.write_text(text)
        compiled = subprocess.run(["c++", "-std=c++17", "-fsyntax-only", *includes(), *words, source],
                                  capture_output=True, text=True, check=False)  # fmt: skip
    return re.findall(r"^(?:\S*:)?(?:\d+:)*\d* ?(?:fatal )?error: .*", compiled.stderr, re.MULTILINE)


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
        self.assertEqual(compiles("\n".join(lines) + "\n"), [])

    def test_a_fix_names_nothing_that_is_spelled_as_in_python(self):
        self.assertEqual(re.findall(r"\b(?:torch|nn|F)\.\w+[\w.]*", "".join(fixes())), [])

    def test_the_lines_that_a_check_shows_compile(self):
        cases = shown_lines()
        self.assertGreater(len(cases), 300)
        text = "#include \"snippets.h\"\n"
        for number, (check, lines) in enumerate(cases):
            text += f'#line 1 "{check}"\n{in_program(number, lines)}\n'
        self.assertEqual(compiles(text, "-I", HERE), [])


if __name__ == "__main__":
    unittest.main()
