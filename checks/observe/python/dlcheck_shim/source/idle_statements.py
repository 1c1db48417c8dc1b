"""Statements of a program that do nothing: a method that is named and not called, and a result that nobody takes."""

import ast
import re

from .trees import tree_of

NOT_CALLED, NOT_TAKEN = 1, 2
# Methods that a training program calls for what they do.
CALLED = {
    "zero_grad", "step", "backward", "eval", "train", "unscale_", "update", "set_epoch", "synchronize",
    "barrier", "requires_grad_", "update_parameters", "reset_parameters",
}  # fmt: skip
# Methods of tensors, under names that hardly anything else has, which change nothing but what they give.
TAKEN = {
    "masked_fill", "masked_scatter", "masked_select", "index_fill", "index_copy", "index_add", "index_select",
    "scatter_add", "scatter_reduce", "clamp", "clamp_min", "clamp_max", "unsqueeze", "permute", "softmax",
    "log_softmax", "sigmoid", "argmax", "argmin", "detach", "logical_and", "logical_or", "logical_not",
    "transpose", "swapaxes", "squeeze", "movedim",
}  # fmt: skip
# A file without such lines need not be parsed, which takes a second for thirty thousand lines.
PROMISING = re.compile(
    rf"\.(?:{'|'.join(CALLED)})[ \t]*(?:[;#\r\n]|$)|^[^=\n]*\.(?:{'|'.join(TAKEN)})[ \t]*\(".encode(),
    re.MULTILINE,
)


def idle_statements(source):
    """[(kind, what the statement says, line, function)]; none of a source that cannot be parsed. `source` is
    bytes."""
    if not PROMISING.search(source):
        return []
    tree = tree_of(source)
    if tree is None:
        return []
    found = []
    visit(tree, "<module>", found)
    return found


def visit(node, function, found):
    """By hand, as a tree of a long program may be deeper than its own code may call."""
    waiting = [(node, function)]
    while waiting:
        node, function = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function = node.name
        if isinstance(node, ast.Expr):
            kind = kind_of(node.value)
            if kind:
                found.append((kind, said(node.value), node.lineno, function))
        waiting += [(child, function) for child in ast.iter_child_nodes(node)]


def kind_of(value):
    if isinstance(value, ast.Attribute) and value.attr in CALLED:
        return NOT_CALLED
    is_method = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in TAKEN
    # Where the result goes into an argument, the call is for that.
    if is_method and not any(keyword.arg in ("out", None) for keyword in value.keywords):
        return NOT_TAKEN
    return 0


def said(value):
    """`optimizer.zero_grad`, without what it was called with."""
    target = value.func if isinstance(value, ast.Call) else value
    owner = target.value
    names = [target.attr]
    while isinstance(owner, ast.Attribute):
        names.append(owner.attr)
        owner = owner.value
    return ".".join([owner.id if isinstance(owner, ast.Name) else "...", *reversed(names)])
