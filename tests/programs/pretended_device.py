"""A copy of dlcheck to whose probe all tensors of a program lie on a CUDA device: it may read only what it has copied to
the host first. With it, machines without such a device show what programs on one would lack.

Whether a tensor lies on a device is an attribute that nobody can replace, so the copy of the probe asks a function instead.
"""

import ast
import pathlib
import re
import shutil

from watching import DLCHECK

ASKED = re.compile(r"((?:[A-Za-z_]\w*)(?:\.[A-Za-z_]\w*|\[[\w\-]+\])*)\.is_(cpu|cuda)\b")
# What brings numbers to the host later, or computes on the device, works the same on both. So does what looks at a number
# by which a loss was divided: torch keeps the program's own numbers on the host everywhere.
OWN = {"tensors.py", "step.py", "backward.py", "host_reads.py", "optimizers.py", "update_check.py", "loss_graph.py"}
FOLDERS = {"autograd", "hooks", "state", "torch_api"}
COPY = 'tensor.detach().to("cpu", copy=True)'
PRETENDED = """
import weakref

COPIES = {}  # by place in memory


def kept(copy):
    COPIES[copy.untyped_storage().data_ptr()] = weakref.ref(copy)
    return copy


def is_cpu(tensor):
    copy = COPIES.get(tensor.untyped_storage().data_ptr())
    return copy is not None and copy() is not None


def is_cuda(tensor):
    return not is_cpu(tensor)
"""


def pretending(folder):
    """The dlcheck of a copy below `folder`."""
    own, build = DLCHECK.parents[1] / "share" / "dlcheck", pathlib.Path(folder, "pretending")
    share = build / "share" / "dlcheck"
    (build / "bin").mkdir(parents=True)
    shutil.copy2(DLCHECK, build / "bin")
    share.mkdir(parents=True)
    for part in own.iterdir():
        if part.name != "python":
            (share / part.name).symlink_to(part.resolve())
    shutil.copytree(own / "python", share / "python", ignore=shutil.ignore_patterns("__pycache__"))
    probe = share / "python" / "dlcheck_shim"
    for file in probe.rglob("*.py"):
        if file.relative_to(probe).parts[0] in FOLDERS and file.name not in OWN:
            rewrite(file)
    (probe / "torch_api" / "pretended.py").write_text(PRETENDED)
    return build / "bin" / DLCHECK.name


def rewrite(file):
    source = file.read_text()
    asked = ASKED.sub(r"pretended.is_\2(\1)", source)
    if file.name == "on_host.py":
        assert asked.count(COPY) == 1
        asked = asked.replace(COPY, f"pretended.kept({COPY})")
    if asked == source:
        return
    lines = asked.split("\n")
    imports = (node.lineno for node in ast.parse(asked).body if isinstance(node, (ast.Import, ast.ImportFrom)))
    lines.insert(next(imports) - 1, "from dlcheck_shim.torch_api import pretended")
    file.write_text("\n".join(lines))
