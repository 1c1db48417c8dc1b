"""The definition of a function of torch as a tree, read from its own file, and a tree compiled as that file was.

A tree is given only where the lines, unchanged, compile to the code that the function has.
"""

import __future__

import ast
import functools
import inspect
import types

from ..system import open_file

FUTURE = functools.reduce(int.__or__, (getattr(__future__, name).compiler_flag
                                       for name in __future__.all_feature_names))  # fmt: skip


def definition_of(function):
    """A tree of its lines, with the numbers that they have in its file, and the definition in it; None
    where they do not compile to its code."""
    if "<locals>" in function.__qualname__:
        return None
    for find_block in (indented_block, inspect.getblock):  # the second is right more often, and ten times as slow
        try:
            lines = lines_in(function.__code__.co_filename)
            block = find_block(lines[function.__code__.co_firstlineno - 1 :])
            for imported in imports_of(function):
                tree, definition = tree_of(function, imported, block)
                if are_alike(compiled(tree, function), function.__code__):
                    return tree, definition
        except (OSError, SyntaxError, TypeError, ValueError, IndexError):
            pass
    return None


def indented_block(lines):
    """The first of these lines and those that are indented below it, as a definition is."""
    indent = len(lines[0]) - len(lines[0].lstrip())
    is_begun = False
    for number, line in enumerate(lines):
        text = line.lstrip()
        if is_begun and text and len(line) - len(text) <= indent and text[0] not in ")]}":
            return lines[:number]
        is_begun = is_begun or text.startswith("def ")
    return lines


@functools.lru_cache(maxsize=1)  # functions of a file come one after the other
def lines_in(file):
    with open_file(file, encoding="utf-8") as opened:
        return opened.read().splitlines(keepends=True)


def imports_of(function):
    """What its module may have imported: Python calls attributes of such names in another way."""
    known = function.__globals__
    used = {name: known[name] for name in names_in(function.__code__) if name in known}
    modules = [name for name, value in used.items() if isinstance(value, types.ModuleType)]
    others = [name for name, value in used.items()
              if getattr(value, "__module__", function.__module__) != function.__module__]  # fmt: skip
    return modules, modules + others, []


def names_in(code):
    inner = (names_in(c) for c in code.co_consts if isinstance(c, types.CodeType))
    return set(code.co_names).union(*inner)


def tree_of(function, imported, block):
    outer = function.__qualname__.split(".")[:-1]
    heads = [f"import {', '.join(imported) or '_'}\n"]
    heads += [f"{' ' * depth}class {name}:\n" for depth, name in enumerate(outer)]
    missing = function.__code__.co_firstlineno - 1 - len(heads)
    if missing < 0:
        raise ValueError("no room above the definition")
    tree = ast.parse("".join(["\n" * missing, *heads, *block]))
    found = tree.body[1]
    for _ in outer:
        found = found.body[0]
    if not isinstance(found, ast.FunctionDef):
        raise TypeError(f"no function is defined there but {found}")
    return tree, found


def compiled(tree, function):
    """The code of the function in a tree."""
    code = function.__code__
    waiting = [compile(tree, code.co_filename, "exec", code.co_flags & FUTURE, dont_inherit=True)]
    while waiting:
        inner = [c for c in waiting.pop().co_consts if isinstance(c, types.CodeType)]
        for found in inner:
            if (found.co_name, found.co_firstlineno) == (code.co_name, code.co_firstlineno):
                return found
        waiting += inner
    return None


FIELDS = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_flags", "co_argcount",
          "co_kwonlyargcount", "co_posonlyargcount")  # fmt: skip


def are_alike(one, other):
    """Whether two codes do the same, line by line."""
    if one is None or any(getattr(one, field) != getattr(other, field) for field in FIELDS):
        return False
    if lines_of(one) != lines_of(other) or len(one.co_consts) != len(other.co_consts):
        return False
    pairs = zip(one.co_consts, other.co_consts)
    return all(are_alike(a, b) if isinstance(a, types.CodeType) and isinstance(b, types.CodeType)
               else repr(a) == repr(b) or isinstance(a, frozenset) and a == b for a, b in pairs)  # fmt: skip


def lines_of(code):
    return list(code.co_lines()) if hasattr(code, "co_lines") else code.co_lnotab
