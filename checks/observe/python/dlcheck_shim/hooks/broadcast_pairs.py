"""Where a program compares or subtracts the outputs of a model and the targets of a batch as they are, with nothing
between that changes their shapes. Read from a syntax tree.
"""

import ast

from .accumulated import FUNCTIONS, own

OUTPUTS, TARGETS = "outputs", "targets"
# What keeps the shape: as a method, and as a function of one tensor.
KEEPING = {
    "float", "double", "half", "long", "int", "bool", "cpu", "cuda", "to", "type", "type_as", "detach", "clone", "contiguous",
    "sigmoid", "tanh", "exp", "log", "round", "clamp", "clip", "abs", "gt", "ge", "lt", "le", "sign", "relu", "expm1", "sqrt",
}  # fmt: skip
JOINING = {"cat", "concat", "concatenate"}  # what joins batches to a longer one of the same form
COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.SetComp)
COMPARING = {"eq", "ne", "sub", "subtract", "not_equal", "isclose"}
FROM_LIBRARY = {"torch", "F", "nn", "math", "np", "functional"}
LONGEST_CHAIN = 12


def broadcast_pairs(tree, lines):
    """[(the expression, line, function, line of the forward)]. `lines`: those of forwards in evaluations."""
    found = {}
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)}
    for scope in (node for node in ast.walk(tree) if isinstance(node, (*FUNCTIONS, ast.Module))):
        nodes = own(scope)
        for line in lines:
            forwards = forwards_in(nodes, line)
            if forwards:
                kinds = Kinds(nodes, forwards, targets_in(nodes, forwards[0]), {})
                look(scope, nodes, kinds, functions, line, found)
    return sorted(found.values(), key=lambda entry: entry[1])


def look(scope, nodes, kinds, functions, line, found, goes_on=True):
    for node in nodes:
        sides = compared(node)
        if sides is not None and {kinds.of(sides[0]), kinds.of(sides[1])} == {OUTPUTS, TARGETS}:
            found[node.lineno, node.col_offset] = (ast.unparse(node), node.lineno, getattr(scope, "name", "<module>"), line)
        called = functions.get(node.func.id) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
        if called is None or not goes_on or node.keywords:
            continue
        names = [argument.arg for argument in (*called.args.posonlyargs, *called.args.args)]
        given = {name: kinds.of(value) for name, value in zip(names, node.args)}
        if {OUTPUTS, TARGETS} <= set(given.values()):
            inner = own(called)
            look(called, inner, Kinds(inner, [], set(), given), functions, line, found, goes_on=False)


def forwards_in(nodes, line):
    """The innermost calls on the line that may be of a model."""
    calls = [node for node in nodes if may_be_forward(node, line)]
    return [call for call in calls if not any(part in calls for part in ast.walk(call) if part is not call)]


def may_be_forward(node, line):
    """Whether something with a name is called, and given something."""
    if not isinstance(node, ast.Call) or not node.lineno <= line <= node.end_lineno or not node.args:
        return False
    names = []
    part = node.func
    while isinstance(part, ast.Attribute):
        names.append(part.attr)
        part = part.value
    return isinstance(part, ast.Name) and part.id not in FROM_LIBRARY and not set(names) & (KEEPING | COMPARING | {"append", "extend", "item"})


def targets_in(nodes, forward):
    """Texts of what a batch has beside the inputs, in the loop around the forward."""
    given = {ast.unparse(part) for argument in forward.args for part in ast.walk(argument) if isinstance(part, (ast.Name, ast.Subscript))}
    loops = [node for node in nodes if isinstance(node, (ast.For, ast.AsyncFor)) and node.lineno <= forward.lineno <= node.end_lineno]
    loops = sorted(loops, key=lambda node: -node.lineno)
    # A comprehension around the forward is nearer than a loop.
    loops = [node.generators[-1] for node in nodes if isinstance(node, COMPREHENSIONS) and holds(node, forward)] or loops
    texts = {part.id for loop in loops[:1] for part in ast.walk(batch_of(loop)) if isinstance(part, ast.Name)}
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in texts and isinstance(node.targets[0], ast.Tuple):
            texts |= {part.id for part in node.targets[0].elts if isinstance(part, ast.Name)}
    for node in nodes:
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in texts and isinstance(node.slice, ast.Constant):
            texts.add(ast.unparse(node))
    return texts - given


def batch_of(loop):
    """What a loop gives for each batch, without the number that enumerate() puts before it."""
    numbered = isinstance(loop.iter, ast.Call) and isinstance(loop.iter.func, ast.Name) and loop.iter.func.id == "enumerate"
    return loop.target.elts[-1] if numbered and isinstance(loop.target, ast.Tuple) else loop.target


def holds(node, part):
    return any(each is part for each in ast.walk(node))


class Kinds:
    """Which expressions of a scope are outputs and which are targets, in the shape that they had at first."""

    def __init__(self, nodes, forwards, targets, given):
        self.forwards, self.targets, self.given = forwards, targets, given
        self.values = {}  # by name, all that it is set to
        for node in nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self.add(target, node.value)
            elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
                self.add(node.target, node.value)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append" and node.args:
                self.add(node.func.value, node.args[0])

    def add(self, target, value):
        if isinstance(target, (ast.Tuple, ast.List)):
            values = value.elts if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts) else None
            for place, part in enumerate(target.elts):
                is_batch = isinstance(value, ast.Name) and isinstance(part, ast.Name) and part.id in self.targets
                if not is_batch:
                    self.add(part, values[place] if values else ast.Constant(None))
        elif isinstance(target, ast.Name):
            self.values.setdefault(target.id, []).append(value)

    def of(self, value, depth=LONGEST_CHAIN, within=()):
        value = as_it_was(value)
        if ast.unparse(value) in self.targets and not isinstance(value, ast.Name):
            return TARGETS
        if isinstance(value, ast.Name):
            if value.id in within or depth == 0:
                return None
            others = [each for each in self.values.get(value.id, ()) if not is_itself(each, value.id) and not is_empty(each)]
            set_to = [self.of(each, depth - 1, (*within, value.id)) for each in others]
            first = self.given.get(value.id) or (TARGETS if value.id in self.targets else None)
            found = {*set_to, first} if first else set(set_to)
            return found.pop() if len(found) == 1 else None
        return OUTPUTS if value in self.forwards else None


def is_itself(value, name):
    value = as_it_was(value)  # `y` of `y = y.to(device)`
    return isinstance(value, ast.Name) and value.id == name


def is_empty(value):
    return isinstance(value, ast.List) and not value.elts


def as_it_was(value):
    """`out` of `(torch.sigmoid(out) > 0.5).float()`: without all that keeps the shape."""
    for _ in range(LONGEST_CHAIN):
        inner = inside(value)
        if inner is None:
            break
        value = inner
    return value


def inside(value):
    """What stands in it in the same form; None where nothing does."""
    if isinstance(value, ast.UnaryOp):
        return value.operand
    if isinstance(value, ast.Compare) and len(value.ops) == 1 and isinstance(value.comparators[0], ast.Constant):
        return value.left
    if isinstance(value, ast.BinOp) and isinstance(value.right, ast.Constant):
        return value.left
    if isinstance(value, ast.BinOp) and isinstance(value.left, ast.Constant):
        return value.right
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or value.func.attr not in KEEPING | JOINING:
        return None
    if value.func.attr in JOINING and (len(value.args) != 1 or value.keywords):
        return None  # along another axis
    owner = value.func.value
    if isinstance(owner, ast.Name) and owner.id in FROM_LIBRARY:
        return value.args[0] if value.args else None
    return owner


def compared(node):
    """The two sides; None of another expression."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        return node.left, node.comparators[0]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        return node.left, node.right
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in COMPARING:
        is_function = isinstance(node.func.value, ast.Name) and node.func.value.id in FROM_LIBRARY
        given = node.args if is_function else [node.func.value, *node.args]
        return tuple(given[:2]) if len(given) >= 2 else None
    return None
