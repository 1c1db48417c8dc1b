"""The source files of a program, and their syntax trees."""

import ast
import contextlib
import warnings

from ..system import open_file

MOST_BYTES, MOST_BYTES_OF_TREE, MOST_FILES = 1 << 20, 1 << 17, 64


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
