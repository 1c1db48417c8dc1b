"""Finds the one line of the program's own files that calls an operation, by their source: a graph does not tell lines."""

import ast
import re

from .trees import MOST_FILES, source_of, tree_of

SIGNS = {"div": ast.Div, "pow": ast.Pow, "matmul": ast.MatMult}
NO_TENSORS = {"math", "np", "numpy", "cmath"}  # modules whose functions take numbers


def line_of(operation, files):
    """(file, line) of the only call of an operation, such as `log` or `log_softmax`; None where there is none, or several."""
    found = set()
    for path in sorted(files)[:MOST_FILES]:
        found |= {(path, line) for line in lines_of(operation, source_of(path))}
        if len(found) > 1:
            return None
    return found.pop() if found else None


def site_of_call(function, sites):
    """The id of the line with the only call of a function of torch in the program's own files; 0 if there is none,
    or several."""
    found = line_of(function, sites.own_files())
    return 0 if found is None else sites.recorder.writer.site(*found, "")


def lines_of(operation, source):
    """Lines of a source, in bytes, with `x.log()`, `torch.log(x)` or, for `div`, `x / y`."""
    sign = SIGNS.get(operation)
    if sign is None and not re.search(rb"\b" + re.escape(operation.encode()), source):
        return set()
    tree = tree_of(source)
    if tree is None:
        return set()
    return {node.lineno for node in ast.walk(tree) if is_call(node, operation) or is_sign(node, sign)}


def is_call(node, operation):
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    owner = node.func.value
    of_numbers = isinstance(owner, ast.Name) and owner.id in NO_TENSORS
    return node.func.attr.strip("_") == operation and not of_numbers


def is_sign(node, sign):
    """Of two constants, it is none between tensors."""
    if sign is None or not isinstance(node, (ast.BinOp, ast.AugAssign)) or not isinstance(node.op, sign):
        return False
    return isinstance(node, ast.AugAssign) or not (isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant))
