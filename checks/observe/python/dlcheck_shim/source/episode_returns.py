"""Where a program adds up the rewards of an episode, and does not set the sum back as the next one begins. Read from a
syntax tree.

An environment is known by what it gives for an action: a state, a reward, and whether the episode has ended. A sum over
all episodes may be wanted, so the program must take it for the return of one.
"""

import ast

from .accumulated import GATHER, SUMMARIES, is_set, line_set, passed_on
from .scopes import LOOPS, called_name, innermost_function, own, paths_to_loops

FEWEST_GIVEN, MOST_GIVEN = 3, 5  # by an environment: state, reward, ends, facts
SHOW = {"add_scalar", "log", "log_metric", "info", "debug", "warning", "format", "write"} | GATHER  # a number, and leave it
OF_ONE = {"episode", "ep", "eps", "episodic", "return", "ret"}  # words of names


def growing_returns(tree, acted):
    """[(name, line that set it, function)]. `acted`: lines under way as models are called."""
    found = {}
    for path in paths_to_loops(tree, acted):
        loop, function = path[-1], innermost_function(tree, path[-1].lineno)
        around = [node for node in path[:-1] if isinstance(node, LOOPS) and (function is tree or node in own(function))]
        for reward, ends in steps_in(loop):
            for node in own(loop):
                if is_sum_of(node, reward) and is_taken_for_one(node.target.id, loop, ends, around, function):
                    name = node.target.id
                    line = max((line_set(name, other) for other in own(function) if line_set(name, other) < loop.lineno), default=0)
                    found[name] = (name, line or node.lineno, getattr(function, "name", "<module>"))
    return sorted(found.values(), key=lambda entry: entry[1])


def steps_in(loop):
    """(name of the reward, names of what says that the episode ended) of each call of an environment."""
    for node in own(loop):
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if not isinstance(target, ast.Tuple) or not FEWEST_GIVEN <= len(target.elts) <= MOST_GIVEN:
            continue
        is_method = isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute)
        if is_method and node.value.args and all(isinstance(part, ast.Name) for part in target.elts[1:]):
            names = [part.id for part in target.elts[1:]]
            yield names[0], set(names[1:3])


def is_sum_of(node, reward):
    """Whether it adds the reward, as a number, to a variable."""
    is_sum = isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name)
    return is_sum and any(isinstance(part, ast.Name) and part.id == reward for part in ast.walk(node.value))


def is_taken_for_one(name, loop, ends, around, function):
    """Whether it is used where an episode has ended, never set back, and more than a sum over all episodes."""
    if isinstance(loop, ast.While) and mentions_any(ends, loop.test):
        if not around:
            return False
        inside, within = own(around[-1]), set(map(id, own(loop)))
        after = [node for node in inside if id(node) not in within]
    else:
        inside = own(around[-1]) if around else own(loop)
        after = [part for node in own(loop) if isinstance(node, ast.If) and mentions_any(ends, node.test)
                 for child in node.body for part in (child, *own(child))]  # fmt: skip
    if is_set(name, inside) or passed_on(name, [node for node in own(function) if not shows(node)]):
        return False
    if any(is_compared_or_reduced(name, node) for node in own(function)):
        return False
    return is_shown(name, after) and (bool(OF_ONE & set(name.lower().split("_"))) or is_averaged(name, after, function))


def mentions_any(names, node):
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))


def shows(node):
    return isinstance(node, ast.Call) and called_name(node) in SHOW


def is_compared_or_reduced(name, node):
    """Whether the sum is divided, or what it was before is taken from it."""
    reduces = isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Sub))
    return reduces and mentions_any({name}, node.left)


def is_shown(name, nodes):
    """Whether it is gathered, printed or logged."""
    return any(isinstance(node, ast.Call) and mentions_any({name}, argument) for node in nodes
               if isinstance(node, ast.Call) for argument in node.args)  # fmt: skip


def is_averaged(name, nodes, function):
    """Whether it is gathered in a list of which a mean is made."""
    lists = {ast.unparse(node.func.value) for node in nodes if shows(node) and isinstance(node.func, ast.Attribute)
             and any(mentions_any({name}, argument) for argument in node.args)}  # fmt: skip
    for node in own(function):
        summed = isinstance(node, ast.Call) and called_name(node) in SUMMARIES - {"cat", "concat", "concatenate", "array", "tensor", "as_tensor", "stack"}
        divided = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
        texts = {ast.unparse(part) for part in ast.walk(node) if isinstance(part, ast.expr)} if summed or divided else set()
        if lists & texts:
            return True
    return False
