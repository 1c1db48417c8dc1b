"""Faults as changes of a program's syntax tree, so that each can be planted in every program that has a place
for it: nothing here knows a program, its names or its lines.

A fault is a function that takes the tree of a program, changes it, and says at how many places it did. The
tree is a copy: the program itself stays as it is.
"""

import ast
import copy
import dataclasses
from collections.abc import Callable

OPTIMIZERS = {"SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam", "RAdam", "Adamax", "Rprop", "LBFGS", "ASGD",
              "Adadelta", "SparseAdam"}  # fmt: skip
SCHEDULERS = {"OneCycleLR", "StepLR", "MultiStepLR", "CosineAnnealingLR", "LambdaLR", "LinearLR", "ExponentialLR",
              "ConstantLR", "CosineAnnealingWarmRestarts", "SequentialLR", "PolynomialLR", "CyclicLR",
              "MultiplicativeLR", "ChainedScheduler"}  # fmt: skip
# Losses that the field computes by function or by class.
LOSSES = {"cross_entropy", "CrossEntropyLoss", "binary_cross_entropy_with_logits", "BCEWithLogitsLoss", "mse_loss",
          "MSELoss", "nll_loss", "NLLLoss", "smooth_l1_loss", "SmoothL1Loss", "l1_loss", "L1Loss", "huber_loss",
          "HuberLoss", "binary_cross_entropy", "BCELoss", "kl_div", "KLDivLoss"}  # fmt: skip
FAULTS = {}


@dataclasses.dataclass(frozen=True)
class Fault:
    name: str  # of this way to make it
    covered: str  # the fault's name in docs/faults.md
    change: Callable  # takes a tree, changes it, gives the number of places


def fault(covered):
    """Registers a function as a way to make the fault of this name in docs/faults.md."""

    def register(change):
        FAULTS[change.__name__] = Fault(change.__name__, covered, change)
        return change

    return register


def planted(name, source):
    """The source with the fault in it, and at how many places; None where the program has no place for it."""
    tree = ast.parse(source)
    places = FAULTS[name].change(tree)
    if not places:
        return None
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n", places


def spelled(node):
    return ast.unparse(node)


def last_name(function):
    """`zero_grad` of `self.optimizer.zero_grad`, `SGD` of `torch.optim.SGD`."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def is_call(node, *names):
    return isinstance(node, ast.Call) and last_name(node.func) in names


def receiver(call):
    return spelled(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def made_by(tree, classes):
    """The names, as they are spelled, that a program gives to what it builds of these classes."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(is_call(part, *classes) for part in ast.walk(node.value)):
            found |= {spelled(part) for target in node.targets
                      for part in (target.elts if isinstance(target, ast.Tuple) else [target])}  # fmt: skip
    return found


def optimizers(tree):
    return made_by(tree, OPTIMIZERS)


def schedulers(tree):
    return made_by(tree, SCHEDULERS)


def parsed(text):
    return ast.parse(text, mode="eval").body


def keyword(call, name):
    return next((k for k in call.keywords if k.arg == name), None)


class Calls(ast.NodeTransformer):
    """Rewrites each call for which `wanted` holds; `rewrite` gives what stands in its place."""

    def __init__(self, wanted, rewrite):
        self.wanted, self.rewrite, self.places = wanted, rewrite, 0

    def visit_Call(self, node):
        self.generic_visit(node)
        if not self.wanted(node):
            return node
        made = self.rewrite(node)
        self.places += made is not None
        return node if made is None else made


def rewrite_calls(tree, wanted, rewrite):
    calls = Calls(wanted, rewrite)
    calls.visit(tree)
    return calls.places


class Statements(ast.NodeTransformer):
    """Rewrites each statement that is a call for which `wanted` holds, also one of several in a tuple;
    `rewrite` gives the calls that stand in its place."""

    def __init__(self, wanted, rewrite):
        self.wanted, self.rewrite, self.places = wanted, rewrite, 0

    def visit_Expr(self, node):
        parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        if not any(isinstance(part, ast.Call) and self.wanted(part) for part in parts):
            return self.generic_visit(node)
        made = []
        for part in parts:
            wanted = isinstance(part, ast.Call) and self.wanted(part)
            self.places += wanted
            made += self.rewrite(part) if wanted else [part]
        return [ast.Expr(part) for part in made] or ast.Pass()


def rewrite_statements(tree, wanted, rewrite):
    statements = Statements(wanted, rewrite)
    statements.visit(tree)
    return statements.places


def drop(tree, wanted):
    """Leaves calls out that stand as statements."""
    return rewrite_statements(tree, wanted, lambda call: [])


def twice(call):
    return [call, copy.deepcopy(call)]


def blocks(tree):
    """Every list of statements in a program."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield node, block


def calls_of(statement):
    """The calls that a statement makes itself, those of its parts included; of a tuple in their order."""
    if isinstance(statement, ast.Expr):
        parts = statement.value.elts if isinstance(statement.value, ast.Tuple) else [statement.value]
        return [part for part in parts if isinstance(part, ast.Call)]
    return []
