"""Where a program sets an attribute to False."""

import ast


def settings_of(tree, path, name):
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    named = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == name]
    off = [target for node in ast.walk(tree) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
           and node.value.value is False for target in node.targets]  # fmt: skip
    own = {argument.arg for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for method in node.body
           if isinstance(method, ast.FunctionDef) for argument in method.args.args[:1]}  # fmt: skip
    lines = sorted(node.lineno for node in named if node in off and not (isinstance(node.value, ast.Name) and node.value.id in own))
    around = {line: [each.name for each in functions if each.lineno <= line <= each.end_lineno] for line in lines}
    found = [(path, line, around[line][-1] if around[line] else "<module>") for line in lines]
    return found, any(isinstance(node.ctx, ast.Load) for node in named)
