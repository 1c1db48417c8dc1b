"""Which schedulers a program steps in the branch of an if."""

import ast

from .trees import tree_of


def conditional_steps(source, kinds):
    """Of these classes, those of which a name is stepped in the branch of an if."""
    tree = tree_of(source)
    if tree is None:
        return set()
    names, found = {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            kind = last_name(node.value.func)
            for target in node.targets if kind in kinds else ():
                names[last_name(target)] = kind
    waiting = [(tree, False)]
    while waiting:
        node, inside = waiting.pop()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step":
            if inside and last_name(node.func.value) in names:
                found.add(names[last_name(node.func.value)])
        inside = inside or isinstance(node, ast.If) and not is_main(node)
        waiting += [(child, inside) for child in ast.iter_child_nodes(node)]
    return found


def last_name(node):
    """`schedule` of `self.schedule`."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


def is_main(node):
    """Whether this is the `if __name__ == "__main__"` of a program."""
    left = node.test.left if isinstance(node.test, ast.Compare) else None
    return isinstance(left, ast.Name) and left.id == "__name__"
