"""Gives the names that a program defines itself new spellings, so that no check can lean on them."""

import ast
import builtins
import random


def renamed(source, seed):
    """The same program under other names. Attributes, keywords, strings and imports stay."""
    tree = ast.parse(source)
    draw = random.Random(seed)
    spellings = {name: f"{draw.choice('bcdfgkmnprt')}{draw.getrandbits(24):06x}"
                 for name in sorted(own_names(tree))}
    return ast.unparse(Renamer(spellings).visit(tree)) + "\n"


def own_names(tree):
    """Names that are bound in the program and stand nowhere where their spelling matters."""
    bound, fixed = set(), set(dir(builtins))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.keyword) and node.arg:
            fixed.add(node.arg)
        elif isinstance(node, ast.Dict):  # a call may spread it into keywords
            fixed.update(key.value for key in node.keys if isinstance(key, ast.Constant))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            fixed.update(alias.asname or alias.name.split(".")[0] for alias in node.names)
        if isinstance(node, ast.ClassDef):
            fixed.update(name for part in node.body for name in names_of_member(part))
    return {name for name in bound - fixed if not name.startswith("__")}


def names_of_member(part):
    """Names that a statement in a class body makes attributes of."""
    if isinstance(part, ast.FunctionDef):
        return [part.name]
    targets = getattr(part, "targets", [getattr(part, "target", None)])
    return [target.id for target in targets if isinstance(target, ast.Name)]


class Renamer(ast.NodeTransformer):
    def __init__(self, spellings):
        self.spellings = spellings

    def visit_Name(self, node):
        node.id = self.spellings.get(node.id, node.id)
        return node

    def visit_arg(self, node):
        node.arg = self.spellings.get(node.arg, node.arg)
        return self.generic_visit(node)

    def visit_definition(self, node):
        node.name = self.spellings.get(node.name, node.name)
        return self.generic_visit(node)

    visit_FunctionDef = visit_ClassDef = visit_definition

    def visit_outer(self, node):
        node.names = [self.spellings.get(name, name) for name in node.names]
        return node

    visit_Global = visit_Nonlocal = visit_outer
