"""Metrics of single batches that a program averages although the metric of all samples is no such mean: perplexity, F1
and others that are quotients of sums. Read from a syntax tree.
"""

import ast

from .divided import (
    BATCHES,
    LONGEST_CHAIN,
    MEAN,
    WRAPPING,
    added_in,
    data_of,
    divisions,
    kind_of_divisor,
    kind_of_value,
    unwrapped,
)
from .scopes import called_name, has_line, innermost_function, own, paths_to_loops

PERPLEXITY, QUOTIENT = 1, 2
# Functions of libraries of metrics.
QUOTIENTS = {"f1_score", "fbeta_score", "precision_score", "recall_score", "roc_auc_score", "average_precision_score", "r2_score",
             "matthews_corrcoef", "cohen_kappa_score", "binary_f1_score", "multiclass_f1_score", "binary_auroc",
             "multiclass_auroc", "binary_auprc"}  # fmt: skip


def averaged_metrics(tree, means, evaluated, trained):
    """[(name, kind, line of the division, function)] of what is computed in each batch of an evaluation, added up, and
    divided by the number of batches. `means`: lines of losses that give the mean of a batch; `evaluated`: lines of losses
    and forwards without gradients; `trained`: lines under way at a loss with gradients."""
    found = {}
    for path in paths_to_loops(tree, evaluated):
        loop, function = path[-1], innermost_function(tree, path[-1].lineno)
        if has_line(loop, trained):
            continue  # folds, each with a training of its own
        nodes = own(loop)
        inside = set(map(id, nodes))
        outside = [node for node in own(function) if id(node) not in inside]
        for name, value in added_in(loop):
            kind = kind_of_metric(value, nodes, means)
            if kind == QUOTIENT and not is_over_batches(loop, tree):
                continue  # the mean over users or documents is meant
            for node, divisor in divisions(name, outside) if kind else ():
                if divisor is None or kind_of_divisor(divisor, loop, tree) == BATCHES:
                    found[name, node.lineno] = (name, kind, node.lineno, getattr(function, "name", "<module>"))
    return [found[key] for key in sorted(found, key=lambda key: key[1])]


def is_over_batches(loop, tree):
    """Whether a loop goes through a loader, by what that is made of or by its name."""
    source = getattr(loop, "iter", None)
    while isinstance(source, ast.Call) and called_name(source) in WRAPPING and source.args:
        source = source.args[0]
    text = "" if source is None else ast.unparse(source)
    return bool(data_of(text, tree)) or text.lower().endswith(("loader", "batches")) or "DataLoader(" in text


def kind_of_metric(value, nodes, means, depth=LONGEST_CHAIN):
    """PERPLEXITY, QUOTIENT, or None where it is not sure."""
    value = unwrapped(value)
    if isinstance(value, ast.Name) and depth:
        given = [node.value for node in nodes if isinstance(node, ast.Assign) and any(ast.unparse(t) == value.id for t in node.targets)]
        return kind_of_metric(given[0], nodes, means, depth - 1) if len(given) == 1 else None
    if isinstance(value, ast.Call) and called_name(value) == "exp":
        is_method = not value.args and isinstance(value.func, ast.Attribute)
        inner = value.func.value if is_method else value.args[0] if len(value.args) == 1 else None
        return PERPLEXITY if inner is not None and kind_of_value(inner, nodes, means, set()) == MEAN else None
    if isinstance(value, ast.Call):
        return QUOTIENT if called_name(value) in QUOTIENTS else None
    return QUOTIENT if is_harmonic_mean(value) else None


def is_harmonic_mean(value):
    """2 * p * r / (p + r), with or without a small number below."""
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Div):
        return False
    factors, summands = parts_of(value.left, ast.Mult), parts_of(value.right, ast.Add)
    is_two = [isinstance(part, ast.Constant) and part.value == 2 for part in factors]
    others = [ast.unparse(part) for part, two in zip(factors, is_two) if not two]
    sums = [ast.unparse(part) for part in summands if not isinstance(part, ast.Constant)]
    return sum(is_two) == 1 and len(others) == 2 and others[0] != others[1] and set(others) <= set(sums)


def parts_of(value, operator):
    if isinstance(value, ast.BinOp) and isinstance(value.op, operator):
        return parts_of(value.left, operator) + parts_of(value.right, operator)
    return [value]
