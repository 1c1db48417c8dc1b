"""By what a program divides the sums that it makes over batches. Read from a syntax tree."""

import ast

from .accumulated import GATHER, SUMMARIES, is_set, line_set, mentions
from .scopes import LOOPS, called_name, innermost_function, own, paths_to_loops

MEAN_OF_MEANS, MEANS_BY_SAMPLES, SUMS_BY_BATCHES = 1, 2, 3
MEAN, SUM = "mean", "sum"  # of the samples of a batch
BATCHES, SAMPLES = "batches", "samples"
KINDS = {(MEAN, BATCHES): MEAN_OF_MEANS, (MEAN, SAMPLES): MEANS_BY_SAMPLES, (SUM, BATCHES): SUMS_BY_BATCHES}
CONVERTING = {"item", "detach", "cpu", "float", "double", "tolist"}
WRAPPING = {"enumerate", "tqdm", "iter", "track", "list"}
LONGEST_CHAIN = 4


def divided_sums(tree, means, sums, evaluated):
    """[(name, kind, line of the division, function, first and last line of the loop)]. `means` and `sums`: lines of losses,
    by what they give; `evaluated`: lines of forward passes without a loss."""
    found = {}
    for path in paths_to_loops(tree, means | sums | evaluated):
        loop = path[-1]
        function = innermost_function(tree, loop.lineno)
        inside = set(map(id, own(loop)))
        outside = [node for node in own(function) if id(node) not in inside]
        for name, value in added_in(loop):
            kind = kind_of_value(value, own(loop), means, sums)
            for node, divisor in divisions(name, outside) if kind else ():
                key = (kind, BATCHES if divisor is None else kind_of_divisor(divisor, loop, tree))
                if key in KINDS:
                    found[name, node.lineno] = (name, KINDS[key], node.lineno, getattr(function, "name", "<module>"),
                                                (loop.lineno, loop.end_lineno))  # fmt: skip
    return sorted(found.values(), key=lambda entry: entry[2])


def growing_sums(tree, trained):
    """[(name, line that set it, function)] of sums over the batches of training that a program divides by the size of one
    pass after each, and does not set back. A sum that is divided by a count of all passes is meant so."""
    found = {}
    for path in paths_to_loops(tree, trained):
        loop, function = path[-1], innermost_function(tree, path[-1].lineno)
        outer = next((node for node in reversed(path[:-1]) if isinstance(node, LOOPS)), None)
        if outer is None or function in path and path.index(outer) < path.index(function):
            continue
        batches, passes = set(map(id, own(loop))), own(outer)
        between = [node for node in passes if id(node) not in batches]
        for name, _ in added_in(loop):
            divided = [divisor for _, divisor in divisions(name, between) if isinstance(divisor, ast.Call)]
            if not is_set(name, passes) and any(kind_of_divisor(divisor, loop, tree) for divisor in divided):
                line = max((line_set(name, node) for node in own(function) if line_set(name, node) < outer.lineno), default=0)
                if line:
                    found[name, line] = (name, line, getattr(function, "name", "<module>"))
    return sorted(found.values(), key=lambda entry: entry[1])


def added_in(loop):
    """(name, what is added) of each sum or list that a loop over batches makes."""
    for node in own(loop):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            yield ast.unparse(node.target), node.value
        called = node.value if isinstance(node, ast.Expr) else None
        if isinstance(called, ast.Call) and isinstance(called.func, ast.Attribute) and called.func.attr in GATHER and len(called.args) == 1:
            yield ast.unparse(called.func.value), called.args[0]


def kind_of_value(value, nodes, means, sums, depth=LONGEST_CHAIN):
    """MEAN or SUM; None where that is not sure."""
    value = unwrapped(value)
    if isinstance(value, ast.Name) and depth:
        given = [node.value for node in nodes if isinstance(node, ast.Assign) and any(ast.unparse(t) == value.id for t in node.targets)]
        return kind_of_value(given[0], nodes, means, sums, depth - 1) if len(given) == 1 else None
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult) and depth:
        sides = ((value.left, value.right), (value.right, value.left))
        is_sum = any(kind_of_value(a, nodes, means, sums, depth - 1) == MEAN and is_size(b, nodes, depth) for a, b in sides)
        return SUM if is_sum else None
    if not isinstance(value, ast.Call):
        return None
    if any(value.lineno <= line <= value.end_lineno for line in means | sums) and len(value.args) + len(value.keywords) > 1:
        return MEAN if any(value.lineno <= line <= value.end_lineno for line in means) else SUM
    method = called_name(value)
    if method == "mean" and not value.args and not value.keywords:
        return MEAN
    compared = any(isinstance(part, ast.Compare) or isinstance(part, ast.Call) and called_name(part) == "eq" for part in ast.walk(value))
    return SUM if method == "sum" and compared and not value.args and not value.keywords else None


def unwrapped(value):
    """`loss` of `loss.item()` and of `float(loss)`."""
    while isinstance(value, ast.Call):
        if isinstance(value.func, ast.Attribute) and value.func.attr in CONVERTING and not value.args:
            value = value.func.value
        elif isinstance(value.func, ast.Name) and value.func.id in ("float", "int") and len(value.args) == 1:
            value = value.args[0]
        else:
            break
    return value


def is_size(node, nodes, depth=LONGEST_CHAIN):
    """Whether it is how many samples a batch has: len(x), x.size(0), x.shape[0], and a name with such a value."""
    if isinstance(node, ast.Name) and depth:
        given = [other.value for other in nodes if isinstance(other, ast.Assign) and any(ast.unparse(t) == node.id for t in other.targets)]
        return len(given) == 1 and is_size(given[0], nodes, depth - 1)
    if isinstance(node, ast.Call):
        return called_name(node) in ("len", "size", "numel")
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape"


def divisions(name, nodes):
    """(statement, divisor) of each division of the name; the divisor is None where its own length, or a mean of it, is
    meant."""
    for node in nodes:
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div) and ast.unparse(node.target) == name:
            yield node, node.value
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and mentions(name, node.left):
            right = unwrapped(node.right)
            is_own = isinstance(right, ast.Call) and called_name(right) == "len" and any(mentions(name, a) for a in right.args)
            yield node, None if is_own else right
        elif isinstance(node, ast.Call) and called_name(node) in SUMMARIES - {"cat", "concat", "concatenate"}:
            if any(ast.unparse(argument) == name for argument in node.args):
                yield node, None


def kind_of_divisor(node, loop, tree):
    """BATCHES, SAMPLES, or None where that is not sure."""
    if isinstance(node, ast.Name):
        steps = [other.value for other in own(loop) if isinstance(other, ast.AugAssign) and isinstance(other.op, ast.Add) and ast.unparse(other.target) == node.id]
        if len(steps) != 1:
            return None
        if isinstance(steps[0], ast.Constant):
            return BATCHES if steps[0].value == 1 else None
        return SAMPLES if is_size(steps[0], own(loop)) else None
    if not isinstance(node, ast.Call) or called_name(node) != "len" or len(node.args) != 1 or not isinstance(loop, (ast.For, ast.AsyncFor)):
        return None
    source, measured = loop.iter, ast.unparse(node.args[0])
    while isinstance(source, ast.Call) and called_name(source) in WRAPPING and source.args:
        source = source.args[0]
    text = ast.unparse(source)
    if measured == text:
        return BATCHES
    return SAMPLES if measured == f"{text}.dataset" or measured in data_of(text, tree) else None


def data_of(loader, tree):
    """What a loader of this name is made of, where it is made once."""
    made = [node.value for node in ast.walk(tree) if isinstance(node, ast.Assign) and any(ast.unparse(t) == loader for t in node.targets)]
    is_loader = len(made) == 1 and isinstance(made[0], ast.Call) and called_name(made[0]).endswith("DataLoader") and made[0].args
    return {ast.unparse(made[0].args[0])} if is_loader else set()
