"""Where a program compares or subtracts the outputs of a model and the targets of a batch as they are, with nothing
between that changes their shapes. Read from a syntax tree.
"""

import ast

from .scopes import FUNCTIONS, own

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
# Functions of single numbers, and what makes one number of all: only so is a comparison a metric.
SINGLE = KEEPING | JOINING | {"square", "pow", "list", "tuple", "stack", "logical_not", "norm"}
REDUCING = {"mean", "sum", "nanmean", "count_nonzero"}
ORDERING = {"argmin", "argmax", "min", "max", "amin", "amax", "topk", "sort", "argsort", "diagonal", "diag", "median", "any", "all"}
UNKNOWN = ast.Constant(None)
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
                loop = loop_around(nodes, forwards[0])
                pairs = pairs_in(scope, nodes, forwards, loop, functions)
                found.update(((at, column), (text, at, name, line)) for text, at, column, name in pairs)
    return sorted(found.values(), key=lambda entry: entry[1])


def pairs_in(scope, nodes, forwards, loop, functions):
    """(the expression, its line and column, function) of all pairs in a function and in those that it calls."""
    targets = targets_in(nodes, forwards[0], loop)
    inside = [node for node in nodes if is_within(node, loop)]
    within = Kinds(nodes, forwards, targets, {}, loop, inside)
    after = Kinds(nodes, forwards, targets, {}, loop, None)
    numbers = set(map(id, inside))

    def kinds_of(node):
        return within if id(node) in numbers else after

    found = reduced_pairs(scope, nodes, kinds_of)
    for node in nodes:
        called = functions.get(node.func.id) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
        if called is None or node.keywords:
            continue
        names = [argument.arg for argument in (*called.args.posonlyargs, *called.args.args)]
        given = {name: kinds_of(node).of(value) for name, value in zip(names, node.args)}
        if {OUTPUTS, TARGETS} <= set(given.values()):
            inner = own(called)
            kinds = Kinds(inner, [], set(), given, None, None)
            found += reduced_pairs(called, inner, lambda node, kinds=kinds: kinds)
    return found


def reduced_pairs(scope, nodes, kinds_of):
    """Those of which one number is made; none where the program asks for shapes, or makes pairs for something else, too."""
    parents = {id(child): node for node in nodes for child in ast.iter_child_nodes(node)}
    pairs = []
    for node in nodes:
        sides = compared(node)
        if sides is not None and {kinds_of(node).of(sides[0]), kinds_of(node).of(sides[1])} == {OUTPUTS, TARGETS}:
            pairs.append(node)
    if any(map(asks_for_shape, nodes)) or not all(is_reduced(node, parents, nodes) for node in pairs):
        return []
    return [(ast.unparse(node), node.lineno, node.col_offset, getattr(scope, "name", "<module>")) for node in pairs]


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


def loop_around(nodes, forward):
    """The innermost loop over batches around the forward: a comprehension is nearer than a loop; None without one."""
    loops = [node for node in nodes if isinstance(node, (ast.For, ast.AsyncFor)) and node.lineno <= forward.lineno <= node.end_lineno]
    loops = sorted(loops, key=lambda node: -node.lineno)
    loops = [node.generators[-1] for node in nodes if isinstance(node, COMPREHENSIONS) and holds(node, forward)] or loops
    return loops[0] if loops else None


def targets_in(nodes, forward, loop):
    """Texts of what a batch has beside the inputs."""
    given = {ast.unparse(part) for argument in forward.args for part in ast.walk(argument) if isinstance(part, (ast.Name, ast.Subscript))}
    texts = {part.id for part in ast.walk(batch_of(loop)) if isinstance(part, ast.Name)} if loop is not None else set()
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

    def __init__(self, nodes, forwards, targets, given, loop, inside):
        """`inside`: the nodes of the loop, if this is about them. What the loop sets itself is set there each time, and a
        comprehension has its names for itself."""
        self.forwards, self.targets, self.given = forwards, targets, given
        self.values = {}  # by name, all that it is set to
        if inside is None:
            self.read(nodes, loop)
            return
        self.read(inside, loop)
        own_names, self.values = self.values, {}
        numbers = set(map(id, inside))
        self.read([node for node in nodes if id(node) not in numbers], loop)
        others = {name: values for name, values in self.values.items() if name not in own_names and name not in targets}
        self.values = others | own_names

    def read(self, nodes, loop):
        for node in nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self.add(target, node.value)
            elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
                self.add(node.target, node.value)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append" and node.args:
                self.add(node.func.value, node.args[0])
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_"):
                self.add(node.func.value, UNKNOWN)  # as squeeze_() is
            for each in node.generators if isinstance(node, (*COMPREHENSIONS, ast.DictComp)) else [node]:
                if isinstance(each, (ast.For, ast.AsyncFor, ast.comprehension)) and each is not loop:
                    self.add(each.target, UNKNOWN)
            if isinstance(node, ast.withitem) and node.optional_vars is not None:
                self.add(node.optional_vars, UNKNOWN)

    def add(self, target, value):
        if isinstance(target, (ast.Tuple, ast.List)):
            values = value.elts if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts) else None
            for place, part in enumerate(target.elts):
                is_batch = isinstance(value, ast.Name) and isinstance(part, ast.Name) and part.id in self.targets
                if not is_batch:
                    self.add(part, values[place] if values else UNKNOWN)
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


def asks_for_shape(node):
    """Whether a condition of the program looks at shapes."""
    if not isinstance(node, (ast.If, ast.IfExp, ast.Assert, ast.While)):
        return False
    parts = [part for part in ast.walk(node.test) if isinstance(part, ast.Attribute)]
    return any(part.attr in ("shape", "ndim", "dim", "size", "numel") for part in parts)


def is_reduced(node, parents, nodes):
    """Whether one number is made of the whole comparison, in the same statement or under a name."""
    while True:
        parent = parents.get(id(node))
        if isinstance(parent, ast.Attribute) and isinstance(parents.get(id(parent)), ast.Call):
            call = parents[id(parent)]
            if parent.attr in REDUCING:
                return not call.args and not call.keywords
            if parent.attr not in SINGLE:
                return False
            node = call
        elif isinstance(parent, ast.Call) and node in parent.args:
            name = parent.func.id if isinstance(parent.func, ast.Name) else getattr(parent.func, "attr", "")
            if name in REDUCING:
                return len(parent.args) == 1 and not parent.keywords
            if name not in SINGLE:
                return False
            node = parent
        elif isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
            return is_reduced_by_name(parent.targets[0].id, nodes)
        elif isinstance(parent, (ast.BinOp, ast.UnaryOp, *COMPREHENSIONS)):
            node = parent
        else:
            return False


def is_reduced_by_name(name, nodes):
    called = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    used = [(node, as_it_was(node.func.value)) for node in called if node.func.attr in REDUCING | ORDERING]
    used += [(node, as_it_was(node.args[0])) for node in called if node.func.attr in REDUCING | ORDERING and node.args]
    used = [node for node, value in used if isinstance(value, ast.Name) and value.id == name]
    whole = [node for node in used if node.func.attr in REDUCING and not node.keywords and len(node.args) <= is_library(node)]
    return bool(whole) and len(whole) == len(used)


def is_library(call):
    return isinstance(call.func.value, ast.Name) and call.func.value.id in FROM_LIBRARY


def is_within(node, loop):
    """A comprehension has no lines of its own: all that is on its line."""
    if loop is None or node is loop:
        return False
    if isinstance(loop, ast.comprehension):
        return loop.target.lineno == getattr(node, "lineno", 0)
    return loop.lineno <= getattr(node, "lineno", 0) <= loop.end_lineno


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
