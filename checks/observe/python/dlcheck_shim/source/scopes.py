"""Functions and loops of a syntax tree, and what lies in them."""

import ast

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.Lambda)
LOOPS = (ast.For, ast.AsyncFor, ast.While)


def paths_to_loops(tree, lines):
    """The innermost loops around the lines, each as the nodes from the tree to it."""
    found, waiting = {}, [(tree, [tree])]
    while waiting:
        node, path = waiting.pop()
        if isinstance(node, LOOPS):
            for line in lines:
                if node.lineno < line <= node.end_lineno and len(path) > len(found.get(line, ())):
                    found[line] = path
        waiting += [(child, [*path, child]) for child in ast.iter_child_nodes(node)]
    functions = {line: innermost_function(tree, line) for line in found}  # a look at the whole tree for each
    # A loop around a function is none of the lines in it.
    kept = {id(path[-1]): path for line, path in found.items() if functions[line] is tree or functions[line] in path}
    return list(kept.values())


def innermost_function(tree, line):
    inside = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS) and node.lineno <= line <= node.end_lineno]
    return max(inside, key=lambda node: node.lineno, default=tree)


def has_line(node, lines):
    return any(node.lineno <= line <= node.end_lineno for line in lines)


def own(node):
    """The nodes within one, without those of functions that are written there."""
    nodes, waiting = [], list(ast.iter_child_nodes(node))
    while waiting:
        child = waiting.pop()
        if not isinstance(child, SCOPES):
            nodes.append(child)
            waiting += ast.iter_child_nodes(child)
    return nodes


def called_name(call):
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
