"""Statements of the program's own lines that do nothing: a method that is named and not called, and a result
that nobody takes. Read from the source at the end of a run; no line is run again."""

import ast
import contextlib
import re
import warnings

from ..record.sites import OWN
from ..record.sites import kind_of as kind_of_file
from ..state import walking
from ..system import open_file
from ..torch_api.attributes import attribute

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
MOST_BYTES, MOST_BYTES_OF_TREE, MOST_FILES = 1 << 20, 1 << 17, 64
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


def tree_of(source):
    """The syntax tree of a source; None of one that cannot be parsed."""
    try:
        with silent_parser():
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@contextlib.contextmanager
def silent_parser():
    """What the parser would warn of, Python has said already. Not by catch_warnings(): after it, warnings that
    are said once would be said again."""
    filters = warnings.filters
    nothing = ("ignore", None, Warning, None, 0)
    filters.insert(0, nothing)
    try:
        yield
    finally:
        filters.remove(nothing)


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


def source_of(path):
    """What a file says; nothing where it cannot be read, or is too long."""
    try:
        with open_file(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError):
        return b""
    return content if len(content) <= MOST_BYTES else b""


def short_tree_of(path):
    """The syntax tree of a file that is short enough to be looked through again and again; else None."""
    source = source_of(path)
    return tree_of(source) if 0 < len(source) <= MOST_BYTES_OF_TREE else None


def looked_through(look, *given):
    """What a look at a syntax tree gives; nothing where an expression is too deep for Python's own functions."""
    try:
        return look(*given)
    except RecursionError:
        return []


class IdleStatements:
    def __init__(self, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.files = set()  # where the classes of models are written

    def subscribe(self, moments):
        moments.model_met.append(self.meet)

    def meet(self, root, model):
        for kind in {type(module) for module in walking.modules(root)}:
            code = attribute(vars(kind).get("forward"), "__code__", None)
            if code is not None and kind_of_file(code.co_filename) == OWN:
                self.files.add(code.co_filename)

    def write(self):
        """Of at most MOST_FILES files, in their order."""
        if self.recorder.request.experiment != "plain":
            return
        for path in sorted(self.files | self.sites.own_files())[:MOST_FILES]:
            for kind, words, line, function in idle_statements(source_of(path)):
                site = self.recorder.writer.site(path, line, function)
                thing = self.recorder.thing("statement", 0, words)
                self.recorder.quantity("idle_statement", thing, float(kind), site=site)
