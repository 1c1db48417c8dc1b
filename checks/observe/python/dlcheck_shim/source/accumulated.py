"""What a program adds up over the batches of an evaluation, and where it sets that back. Read from a syntax tree.

Three forms are known: a variable of the loop that trains and evaluates, one that lives longer than the function that
evaluates, and a meter, which is an object of a class of the same file or of a library of metrics.
"""

import ast

from .scopes import FUNCTIONS, LOOPS, SCOPES, called_name, has_line, own, paths_to_loops

GATHER = {"append", "extend"}
RESETS = {"reset", "clear", "reset_state", "zero", "zero_", "fill_", "__init__"}
# What makes a number of a gathered list or sum.
SUMMARIES = {"mean", "fmean", "cat", "stack", "concatenate", "concat", "average", "median", "array", "tensor", "as_tensor"}
METRIC_LIBRARIES = ("torchmetrics", "torcheval")
UNITS = {1000, 10**6, 10**9, 1 << 10, 1 << 20, 1 << 30}  # samples in thousands are no share
CLOCKS = {"time", "perf_counter", "monotonic", "process_time", "elapsed", "seconds", "duration"}


def never_reset(tree, evaluated, trained):
    """[(name, line, function)] of what is added up at one of the lines `evaluated` and never set back before the next
    evaluation; `line` is where it was set last, or is added to. `trained`: lines under way as gradients are computed."""
    found = {}
    for path in paths_to_loops(tree, evaluated):
        function = next((node for node in reversed(path) if isinstance(node, FUNCTIONS)), tree)
        around = path[path.index(function) + 1 : -1] if function in path else path[:-1]
        around = [node for node in around if isinstance(node, LOOPS)]
        loop, epochs = path[-1], [node for node in around if has_line(node, trained)]
        if has_line(loop, trained):
            continue  # each batch is evaluated and trained on
        where = getattr(function, "name", "<module>")
        for name, node in added_up(loop).items():
            if epochs:
                line = line_outside(name, function, epochs[-1], node, loop)
            else:
                line = line_of_longer(name, tree, function, node, loop) if function is not tree else None
            if line is not None and not is_window(name, tree):
                found[name, line] = (name, line, where)
        for name, node in meters_used(loop).items():
            line = line_of_meter(name, tree, epochs[-1] if epochs else function, node)
            if line is not None:
                found[name, line] = (name, line, where)
    return sorted(found.values(), key=lambda entry: (entry[1], entry[0]))


def is_kept(node):
    """A variable, or an attribute or entry of one."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return isinstance(node, ast.Name)


def added_up(loop):
    """By name, the statement that adds to it."""
    found = {}
    for node in own(loop):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and is_kept(node.target):
            found.setdefault(ast.unparse(node.target), node)
        called = node.value if isinstance(node, ast.Expr) else None
        if isinstance(called, ast.Call) and isinstance(called.func, ast.Attribute) and called.func.attr in GATHER and is_kept(called.func.value):
            found.setdefault(ast.unparse(called.func.value), node)
    return {name: node for name, node in found.items() if not is_set(name, own(loop))}


def is_set(name, nodes):
    return any(line_set(name, node) for node in nodes)


def line_set(name, node):
    """The line, where the node gives the name a new value or empties it; 0 if it does not."""
    targets = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr, ast.For, ast.AsyncFor)):
        targets = [node.target]
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        targets = [node.optional_vars]
    elif isinstance(node, ast.Delete):
        targets = node.targets
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in RESETS:
        targets = [node.func.value]
    flat = [part for target in targets for part in (target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target])]
    return any(is_whole(name, ast.unparse(part)) for part in flat) and getattr(node, "lineno", 1)


def is_whole(name, text):
    """Whether to set `text` sets `name`, too: an object whose attribute or entry it is may have been made again."""
    return text in (name, f"{name}[:]") or name.startswith((f"{text}.", f"{text}["))


def is_window(name, tree):
    """Whether it is made to forget what came long ago."""
    return any(isinstance(node, ast.Call) and called_name(node) == "deque" and (len(node.args) > 1 or node.keywords)
               for other in ast.walk(tree) if isinstance(other, ast.Assign) and any(ast.unparse(t) == name for t in other.targets)
               for node in ast.walk(other.value))  # fmt: skip


def line_outside(name, function, epochs, node, loop):
    """Of a variable that is set outside of the loop over epochs, and read in it as a share or a mean."""
    inside = own(epochs)
    if is_set(name, inside) or passed_on(name, inside) or not is_summed(name, inside, own(loop)):
        return None
    return max((line_set(name, other) for other in own(function) if line_set(name, other) < epochs.lineno), default=0) or node.lineno


def line_of_longer(name, tree, function, node, loop):
    """Of a variable that outlives the function which evaluates, and is set nowhere but where the program begins."""
    nodes = own(function)
    root = name.partition(".")[0].partition("[")[0]
    declared = {word for other in nodes if isinstance(other, (ast.Global, ast.Nonlocal)) for word in other.names}
    arguments = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
    is_free = root not in arguments and not is_set(root, nodes)
    of_object = name != root and root == first_argument_of_method(tree, function)
    lasts = root in declared or of_object or is_free
    if not lasts or is_set(name, nodes) or passed_on(name, nodes) or not is_summed(name, nodes, own(loop)):
        return None
    at_first = beginnings(tree)
    elsewhere = [other for other in ast.walk(tree) if line_set(name, other) and id(other) not in at_first]
    elsewhere += attribute_set_elsewhere(name, tree, at_first) if of_object else []
    if elsewhere or of_object and made_in_loop(tree, function):
        return None
    return max((line_set(name, other) for other in ast.walk(tree)), default=0) or node.lineno


def beginnings(tree):
    """Numbers of the nodes that run once: of the module and of the constructors in it, but for loops."""
    found, waiting = set(), [tree]
    while waiting:
        node = waiting.pop()
        found.add(id(node))
        for child in ast.iter_child_nodes(node):
            runs_once = not isinstance(child, (*SCOPES, *LOOPS)) or getattr(child, "name", "") == "__init__"
            waiting += [child] if runs_once else []
    return found


def first_argument_of_method(tree, function):
    """The name of the object in a method; "" in a function."""
    is_method = any(isinstance(node, ast.ClassDef) and function in node.body for node in ast.walk(tree))
    arguments = [*function.args.posonlyargs, *function.args.args]
    return arguments[0].arg if is_method and arguments else ""


def attribute_set_elsewhere(name, tree, at_first):
    """Statements that set an attribute of this name, of whatever object."""
    attribute = name.rpartition(".")[2]
    return [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and id(node) not in at_first
            and any(isinstance(target, ast.Attribute) and target.attr == attribute for target in node.targets)]  # fmt: skip


def made_in_loop(tree, function):
    """Whether objects of the class that the function belongs to may be made again and again, or nobody knows where."""
    owner = next((node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and function in node.body), None)
    if owner is None:
        return True
    at_first = beginnings(tree)
    made = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and called_name(node) == owner.name]
    main = {id(node) for other in tree.body if isinstance(other, FUNCTIONS) for node in own(other) if not in_loop(other, node)}
    return not made or any(id(node) not in at_first | main for node in made)


def in_loop(function, node):
    return any(node is part for loop in own(function) if isinstance(loop, LOOPS) for part in own(loop))


def passed_on(name, nodes):
    """Whether another function is given it, or what it belongs to, and may set it back."""
    for node in nodes:
        if isinstance(node, ast.Call) and called_name(node) not in SUMMARIES | {"sum", "len", "print", "float", "int", "str", "round", "max", "min", "sorted"}:
            if any(ast.unparse(argument) == name for argument in node.args):
                return True
    return False


def is_summed(name, nodes, within):
    """Whether a share or a mean is made of it, outside of the loop over batches."""
    skipped = set(map(id, within))
    for node in nodes:
        if id(node) in skipped:
            continue
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and mentions(name, node.left):
            is_unit = isinstance(node.right, ast.Constant) and node.right.value in UNITS
            if not is_unit and not any(word in CLOCKS for part in ast.walk(node.right) for word in words_of(part)):
                return True
        if isinstance(node, ast.Call) and called_name(node) in SUMMARIES:
            if any(mentions(name, argument) for argument in node.args):
                return True
    return False


def words_of(node):
    text = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return text.lower().split("_")


def mentions(name, node):
    return any(isinstance(part, ast.expr) and is_kept(part) and ast.unparse(part) == name for part in ast.walk(node))


def meters_used(loop):
    """By name, the statement that gives a batch to a meter."""
    found = {}
    for node in own(loop):
        called = node.value if isinstance(node, (ast.Expr, ast.Assign)) else None
        if isinstance(called, ast.Call) and isinstance(called.func, ast.Attribute) and is_kept(called.func.value):
            found.setdefault(ast.unparse(called.func.value), (node, called.func.attr))
    return found


def line_of_meter(name, tree, scope, used):
    """Of an object that is made where the program begins, adds up what it is given, and is never set back."""
    node, method = used
    made = [other for other in ast.walk(tree) if isinstance(other, ast.Assign) and any(ast.unparse(t) == name for t in other.targets)]
    if len(made) != 1 or not isinstance(made[0].value, ast.Call) or made[0] in own(scope):
        return None
    resets = resets_of(called_name(made[0].value), method, tree)
    calls = [other for other in ast.walk(tree) if isinstance(other, ast.Call) and isinstance(other.func, ast.Attribute)]
    if not resets or any(other.func.attr in resets and ast.unparse(other.func.value) == name for other in calls):
        return None
    at_first = beginnings(tree)
    main = {id(other) for function in tree.body if isinstance(function, FUNCTIONS) and function is not scope for other in own(function)}
    if id(made[0]) not in at_first | main or passed_on(name, list(ast.walk(tree))):
        return None
    return made[0].lineno


def resets_of(kind, method, tree):
    """Names of the methods that set back what `method` of the class adds up; none where it adds up nothing, or what is
    never to be set back."""
    libraries = {alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
                 and (node.module or "").split(".")[0] in METRIC_LIBRARIES for alias in node.names}  # fmt: skip
    if kind in libraries:
        return RESETS if method == "update" else set()
    owner = next((node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == kind), None)
    methods = {} if owner is None else {node.name: node for node in owner.body if isinstance(node, FUNCTIONS)}
    added = [] if method not in methods else [
        node.target if isinstance(node, ast.AugAssign) else node.func.value for node in own(methods[method])
        if isinstance(node, ast.AugAssign) or isinstance(node, ast.Call) and called_name(node) in GATHER and isinstance(node.func, ast.Attribute)
    ]  # fmt: skip
    added = {node.attr for node in added if isinstance(node, ast.Attribute)}
    return {other for other, function in methods.items() if other not in ("__init__", method) and added & attributes_set(function)}


def attributes_set(function):
    targets = [target for node in own(function) if isinstance(node, ast.Assign) for target in node.targets]
    return {part.attr for target in targets for part in ast.walk(target) if isinstance(part, ast.Attribute)}
