"""What a program takes for its best result so far: a loss or a share of correct predictions, and in which direction.
Read from a syntax tree.
"""

import ast
import builtins
import math

from ..state.loss_calls import KINDS
from .accumulated import GATHER
from .divided import CONVERTING
from .scopes import FUNCTIONS, called_name, own

LOSS, CORRECT, ITSELF = 1, 2, 3  # the last of a name that is set to something made of itself
HIGHER, LOWER = (ast.Gt, ast.GtE), (ast.Lt, ast.LtE)
# What does not change which of two numbers is the larger one.
SUMMARIES = {"mean", "fmean", "sum", "round", "exp", "sqrt", "stack", "cat", "tensor", "as_tensor", "array", "average", "nanmean"}
LIBRARIES = {"torch", "copy", "numpy", "np", "pickle", "json", "joblib"}
LONGEST_CHAIN = 12


def worst_kept(tree, losses, evaluated, models):
    """[(name, kind, whether weights are kept, line, function)] of each comparison that takes the highest loss or the fewest
    correct predictions for the best so far. `losses`: lines that compute a loss; `evaluated`: those of them without
    gradients; `models`: lines of forwards."""
    forwards, weights = called_on(tree, models), called_on(tree, losses | models) | states_in(tree)
    by_weights = Meanings(tree, set() if is_raised(tree, losses) else losses, forwards)
    by_patience = Meanings(tree, by_weights.losses & evaluated, forwards)
    found = {}
    for scope in (node for node in ast.walk(tree) if isinstance(node, (*FUNCTIONS, ast.Module))):
        for node in (node for node in own(scope) if isinstance(node, ast.If)):
            inside, outside = ([part for statement in body for part in (statement, *own(statement))] for body in (node.body, node.orelse))
            for value, best, is_higher in comparisons(node.test):
                if not any(sets(part, best, value) for part in inside) or any(sets(part, best, None) for part in outside):
                    continue
                kept = any(keeps_weights(part, weights, by_weights.functions) for part in inside)
                meanings = by_weights if kept else by_patience if starts_patience(inside, outside) else None
                kind = None if meanings is None else meanings.of(value, scope)
                if kind == (LOSS if is_higher else CORRECT):
                    found[node.lineno] = (ast.unparse(value), kind, kept, node.test.lineno, getattr(scope, "name", "<module>"))
    return [found[line] for line in sorted(found)]


def called_on(tree, lines):
    return {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)
            and any(node.lineno <= line <= node.end_lineno for line in lines)}  # fmt: skip


def states_in(tree):
    """Names of what holds a state dict."""
    return {ast.unparse(target) for node in ast.walk(tree) if isinstance(node, ast.Assign) and holds_state(node.value) for target in node.targets}


def holds_state(value):
    return any(isinstance(part, ast.Call) and called_name(part) == "state_dict" for part in ast.walk(value))


def is_raised(tree, losses):
    """Whether a loss is subtracted somewhere, as one that an adversary is to have: the highest may be the best then."""
    def is_loss(node):
        return isinstance(node, ast.Call) and any(node.lineno <= line <= node.end_lineno for line in losses)

    names = {ast.unparse(target) for node in ast.walk(tree) if isinstance(node, ast.Assign) and is_loss(node.value) for target in node.targets}
    for node in ast.walk(tree):
        is_minus = isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Sub)
        taken = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else None
        taken = (node.right if isinstance(node, ast.BinOp) else node.value) if is_minus else taken
        if taken is not None and any(is_loss(part) or isinstance(part, ast.Name) and part.id in names for part in ast.walk(taken)):
            return True
    return False


def comparisons(test):
    """(value, best, whether the value is to be the higher one) for either side, of a test and of all that it asks for."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    for part in parts:
        sides = [part.left, *part.comparators] if isinstance(part, ast.Compare) else []
        for operator, left, right in zip(part.ops if sides else (), sides, sides[1:]):
            if isinstance(operator, HIGHER + LOWER):
                is_higher = isinstance(operator, HIGHER)
                yield left, right, is_higher
                yield right, left, not is_higher


def sets(node, best, value):
    """Whether the statement makes the value the best one; any value, if it is None."""
    if not isinstance(node, ast.Assign):
        return False
    pairs = [(target, node.value) for target in node.targets]
    for target, given in list(pairs):
        if isinstance(target, ast.Tuple) and isinstance(given, ast.Tuple) and len(target.elts) == len(given.elts):
            pairs += zip(target.elts, given.elts)
    return any(ast.unparse(target) == ast.unparse(best) and (value is None or ast.unparse(given) == ast.unparse(value)) for target, given in pairs)


def keeps_weights(node, called, functions=None):
    """Whether a call saves something, or takes the weights of a model or a copy of one that is called. Where one of the
    program's own `functions` is called, whether that does so."""
    if not isinstance(node, ast.Call):
        return False
    name = called_name(node)
    is_library = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) in LIBRARIES
    if functions and not is_library and len(functions.get(name, ())) == 1:
        return any(keeps_weights(part, called) for part in own(functions[name][0]))
    parts = {ast.unparse(part) for part in ast.walk(node) if isinstance(part, (ast.Name, ast.Attribute))}
    if name == "state_dict":
        return True
    return name in ("deepcopy", "save", "save_pretrained", "save_model", "save_checkpoint", "save_file") and bool(parts & called)


def starts_patience(inside, outside):
    """Whether a counter starts at 0 where the test holds, and counts where it does not."""
    given = [entry for part in inside if isinstance(part, ast.Assign) for entry in values_given(part)]
    zero = {name for name, value, _ in given if isinstance(value, ast.Constant) and value.value == 0}
    return any(isinstance(part, ast.AugAssign) and ast.unparse(part.target) in zero for part in outside)


class Meanings:
    """What numbers of a program are: LOSS, CORRECT, or None where that is not sure."""

    def __init__(self, tree, losses, models):
        """`models`: texts of what is called on lines of forwards."""
        self.losses, self.models, self.functions = losses, models, {}
        self.calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        for node in ast.walk(tree):
            if isinstance(node, FUNCTIONS):
                self.functions.setdefault(node.name, []).append(node)
        self.assigned = {}  # by scope: by name, all values that it is set to or that are added to it, each with a place in it
        self.known = {}  # by scope, name and path: what it is; None while it is being worked out, as of a sum of itself

    def of(self, value, scope, depth=LONGEST_CHAIN, path=()):
        """`path`: indices and keys, by which it is asked for in a value of several."""
        if depth == 0:
            return None
        if isinstance(value, (ast.Tuple, ast.Dict)) and path:
            part = part_of(value, path[0])
            return None if part is None else self.of(part, scope, depth - 1, path[1:])
        if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant):
            return self.of(value.value, scope, depth - 1, (value.slice.value, *path))
        if isinstance(value, (ast.Name, ast.Attribute)):
            return self.of_name(ast.unparse(value), scope, depth, path)
        if isinstance(value, ast.Call):
            return self.of_call(value, scope, depth, path)
        if isinstance(value, ast.IfExp):
            return only({self.of(part, scope, depth - 1, path) for part in (value.body, value.orelse) if not is_start(part)})
        if path:
            return None
        if isinstance(value, ast.Compare):
            return CORRECT if len(value.ops) == 1 and isinstance(value.ops[0], ast.Eq) and are_all(value) else None
        if isinstance(value, ast.BinOp):
            return self.of_operation(value, scope, depth)
        if isinstance(value, (ast.ListComp, ast.GeneratorExp)):
            return self.of(value.elt, scope, depth - 1)
        return None

    def of_name(self, name, scope, depth, path):
        key = (id(scope), name, path)
        if key not in self.known:
            self.known[key] = ITSELF
            values = [(given, at) for given, at in self.values_in(scope).get(name, ()) if not is_start(given)]
            kinds = {self.of(given, scope, depth - 1, path if at is None else (at, *path)) for given, at in values}
            self.known[key] = only(kinds - {ITSELF})
        return self.known[key]

    def of_operation(self, value, scope, depth):
        if any(isinstance(part, ast.USub) for part in ast.walk(value)):
            return None
        if isinstance(value.op, ast.Div):
            return self.of(value.left, scope, depth - 1)
        sides = {self.of(value.left, scope, depth - 1), self.of(value.right, scope, depth - 1)}
        if isinstance(value.op, ast.Mult):
            return only(sides - {None})
        return only(sides - {ITSELF} or sides) if isinstance(value.op, ast.Add) else None

    def of_call(self, call, scope, depth, path):
        name, is_method = called_name(call), isinstance(call.func, ast.Attribute)
        if name in CONVERTING | {"float", "int", "long", "to"} | SUMMARIES and not path:
            is_library = is_method and isinstance(call.func.value, ast.Name) and call.args
            inner = call.func.value if is_method and not is_library else call.args[0] if call.args else None
            return None if inner is None else self.of(inner, scope, depth - 1)
        if name == "eq" and is_method and not path:
            return CORRECT if are_all(call) else None
        if not path and name not in self.functions and self.is_loss(call, name):
            return LOSS
        return self.of_function(name, depth, path)

    def is_loss(self, call, name):
        """One of torch's losses on a line of them, or the only call there, but for forwards in it, that takes two things."""
        lines = [line for line in self.losses if call.lineno <= line <= call.end_lineno]
        if not lines or len(call.args) + len(call.keywords) < 2 or name in vars(builtins) or name in vars(math):
            return False
        if name in KINDS:
            return True
        others = [node for line in lines for node in self.calls_on(line) if node is not call]
        inside = {id(node) for node in ast.walk(call)}
        names = {called_name(node) for node in others}
        return not names & set(KINDS) and all(id(node) in inside and ast.unparse(node.func) in self.models for node in others)

    def calls_on(self, line):
        """Those that take two things or more."""
        return [node for node in self.calls if node.lineno <= line <= node.end_lineno and len(node.args) + len(node.keywords) > 1]

    def of_function(self, name, depth, path):
        known = self.functions.get(name, ())
        returned = [node.value for node in own(known[0]) if isinstance(node, ast.Return) and node.value] if len(known) == 1 else []
        return only({self.of(value, known[0], depth - 1, path) for value in returned})

    def values_in(self, scope):
        if scope not in self.assigned:
            found = self.assigned[scope] = {}
            for node in own(scope):
                for name, value, place in values_given(node):
                    found.setdefault(name, []).append((value, place))
        return self.assigned[scope]


def are_all(comparison):
    """Whether predictions are compared with targets, all of them: with no constant, and no part that a test chooses."""
    parts = list(ast.walk(comparison))
    sides = [comparison.left, *comparison.comparators] if isinstance(comparison, ast.Compare) else comparison.args
    chosen = [part for part in parts if isinstance(part, ast.Subscript) and any(isinstance(each, ast.Compare) for each in ast.walk(part.slice))]
    return not chosen and not any(isinstance(side, ast.Constant) for side in sides)


def only(kinds):
    """The one kind that all agree on; None where they do not."""
    return kinds.pop() if len(kinds) == 1 else None


def values_given(node):
    """(name, value, the place in the value) of what a statement sets or adds."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if not isinstance(target, (ast.Tuple, ast.List)):
                yield ast.unparse(target), node.value, None
            for place, part in enumerate(target.elts if isinstance(target, (ast.Tuple, ast.List)) else ()):
                several = isinstance(node.value, (ast.Tuple, ast.List)) and place < len(node.value.elts)
                yield ast.unparse(part), node.value.elts[place] if several else node.value, None if several else place
    elif isinstance(node, ast.AugAssign):
        if not isinstance(node.op, ast.Div):  # a sum is what it was, divided or not; of all else it is not sure
            yield ast.unparse(node.target), node.value if isinstance(node.op, ast.Add) else node, None
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
        yield ast.unparse(node.target), node.value, None
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in GATHER and len(node.args) == 1:
        yield ast.unparse(node.func.value), node.args[0], None


def part_of(value, place):
    if isinstance(value, ast.Tuple):
        return value.elts[place] if isinstance(place, int) and place < len(value.elts) else None
    keys = [key.value if isinstance(key, ast.Constant) else None for key in value.keys]
    return value.values[keys.index(place)] if place in keys else None


def is_start(value):
    """Whether a sum or a list begins so."""
    return isinstance(value, ast.Constant) or isinstance(value, (ast.List, ast.Tuple)) and not value.elts or (
        isinstance(value, ast.Call) and called_name(value) in ("zeros", "list", "defaultdict", "float", "zeros_like") and
        all(isinstance(argument, (ast.Constant, ast.Name)) for argument in value.args))  # fmt: skip
