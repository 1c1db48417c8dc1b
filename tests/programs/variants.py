"""Variants of a program that mean the same: what dlcheck says of one, it must say of the other. Each is a few lines in front
of the program.
"""

import ast
import pathlib

from watching import FOLDER, SOURCE

# All tensors are made on an accelerator, and so are generators, which take no default device.
CUDA = """
import torch as _torch, torch.utils.data as _data
_torch.set_default_device("cuda")
_torch.cuda.init()
class _Generator(_torch.Generator):
    def __new__(cls, device="cuda"):
        return super().__new__(cls, device)
_torch.Generator = _Generator
_data.random_split.__defaults__ = tuple(_torch.cuda.default_generators[0] if isinstance(given, _torch._C.Generator) else given
                                        for given in _data.random_split.__defaults__)
"""
# A program that moves its batches to a device trains on copies of what its loader gives.
COPIED_BATCHES = """
import torch as _torch, torch.utils.data as _data
from torch.utils._pytree import tree_map as _tree_map
_own_iter = _data.DataLoader.__iter__
def _iter(self):
    for batch in _own_iter(self):
        yield _tree_map(lambda part: part.clone() if isinstance(part, _torch.Tensor) else part, batch)
_data.DataLoader.__iter__ = _iter
"""
VARIANTS = {"cuda": CUDA, "copied-batches": COPIED_BATCHES}


def in_variant(source, variant):
    """The lines stand behind the docstring and what is imported from __future__."""
    if variant is None:
        return source
    behind = 0
    for node in ast.parse(source).body:
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_text and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        behind = node.end_lineno
    lines = source.split("\n")
    return "\n".join([*lines[:behind], *VARIANTS[variant].split("\n"), *lines[behind:]])


def file_in_variant(name, variant, folder):
    """The path of a healthy program, or of its variant below `folder`, where it finds the same files."""
    own = FOLDER / "healthy" / f"{name}.py"
    if variant is None:
        return own
    file = pathlib.Path(folder, own.relative_to(SOURCE))
    file.parent.mkdir(parents=True)
    for other in own.parent.iterdir():
        if other != own:
            (file.parent / other.name).symlink_to(other)
    pathlib.Path(folder, "fixtures").symlink_to(SOURCE / "fixtures")
    file.write_text(in_variant(own.read_text(), variant))
    return file
