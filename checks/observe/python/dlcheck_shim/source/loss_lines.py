"""The lines that give the loss of a backward call its value."""

import ast

from .scopes import FUNCTIONS, LOOPS

MOST_LINES = 3


def lines_of_loss(tree, number):
    """[(line, function)] that give the loss of a backward call its value; none where that is not sure. The call is
    in line `number`."""
    found = call_in(tree, number)
    if found is None:
        return []
    call, function, loop = found
    scope = loop if loop is not None else function
    names = {node.id for part in [call.func, *call.args] for node in ast.walk(part) if isinstance(node, ast.Name)}
    given = [node for node in ast.walk(scope) if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign))
             and names.intersection(targets_of(node)) and node.lineno < number]  # fmt: skip
    name = getattr(function, "name", "<module>")
    lines = [(node.lineno, name) for node in given]
    lines += [line for node in given for line in returned_by(tree, node.value)]
    return sorted(set(lines)) if len(set(lines)) <= MOST_LINES else []


def call_in(tree, number):
    """(call, function or module around it, innermost loop of that or None) of the only backward() of a line."""
    found, waiting = [], [(tree, tree, None)]
    while waiting:
        node, function, loop = waiting.pop()
        if isinstance(node, FUNCTIONS):
            function, loop = node, None
        elif isinstance(node, LOOPS):
            loop = node
        elif is_backward(node) and node.lineno <= number <= node.end_lineno:
            found.append((node, function, loop))
        waiting += [(child, function, loop) for child in ast.iter_child_nodes(node)]
    return found[0] if len(found) == 1 else None


def is_backward(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward"


def targets_of(node):
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}


def returned_by(tree, value):
    """The line of the only return of a function of the same file, where `value` is a call of it by its name."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
        return []
    functions = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS) and node.name == value.func.id]
    returns = [node for function in functions for node in ast.walk(function) if isinstance(node, ast.Return)]
    if len(functions) != 1 or len(returns) != 1 or returns[0].value is None:
        return []
    return [(returns[0].lineno, functions[0].name)]
