"""Finds predictions that compare a model's scores with 0.5, where its loss takes scores and not probabilities. The lines
of the loss are those that ran; what the program compares is read from its source at the end of a run.
"""

import ast

import torch

from ..source.trees import MOST_FILES, source_of, tree_of
from ..torch_api import tensors
from ..torch_api.on_host import is_at_hand

MOST_LINES, MOST_LOOKS = 16, 64
ARRANGING = {"squeeze", "view", "reshape", "flatten", "float", "cpu", "detach", "unsqueeze", "ravel", "double"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)


class Thresholds:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.gave = guard.isolated("thresholds")(self.gave)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.lines, self.thing = {}, 0  # lines of losses, by file
        self.has_scores, self.looks = False, 0

    def subscribe(self, moments):
        moments.loss_examined.append(self.add)
        moments.evaluation_gave.append(self.gave)

    def add(self, call):
        if call.function == "binary_cross_entropy_with_logits":
            found = self.sites.caller()
            if found is not None and sum(map(len, self.lines.values())) < MOST_LINES:
                self.thing = call.thing
                self.lines.setdefault(found[0].co_filename, set()).add(found[1])

    def gave(self, model, output, beside):
        """A model that gives probabilities in an evaluation is asked for 0.5 rightly."""
        if self.has_scores or not self.lines or self.looks == MOST_LOOKS or not isinstance(output, torch.Tensor):
            return
        self.looks += 1
        if tensors.is_readable(output) and is_at_hand(output) and output.is_floating_point() and output.numel() and tensors.may_compute():
            with tensors.unrecorded():
                least, most = output.detach().aminmax()
                self.has_scores = float(least) < 0 or float(most) > 1

    def write(self):
        if not self.has_scores or self.recorder.request.experiment != "plain":
            return
        for path in sorted(self.lines)[:MOST_FILES]:
            for line, function in score_thresholds(source_of(path), self.lines[path]):
                self.recorder.quantity("score_threshold", self.thing, 0.5, site=self.recorder.writer.site(path, line, function))


def score_thresholds(source, lines):
    """[(line, function)] where what a loss on one of `lines` takes is compared with 0.5 or rounded."""
    tree = tree_of(source)
    if tree is None:
        return []
    scopes = [(scope, own_nodes(scope)) for scope in ast.walk(tree) if isinstance(scope, FUNCTIONS)]
    models = set()
    for _, nodes in scopes:
        inner = {id(part) for node in nodes if is_loss(node, lines) for part in ast.walk(node) if part is not node}
        for node in nodes:
            if is_loss(node, lines) and id(node) not in inner:
                models.add(called(node.args[0], assigned(nodes)))
    models -= {None, *vars(torch)}
    found = []
    for scope, nodes in scopes:
        for node in nodes:
            compared = compared_with_half(node)
            if compared is not None and called(compared, assigned(nodes)) in models:
                found.append((node.lineno, getattr(scope, "name", "<module>")))
    return sorted(set(found))


def is_loss(node, lines):
    """Whether a call on such a line takes two things or more, as a loss does."""
    if not isinstance(node, ast.Call) or not node.args or len(node.args) + len(node.keywords) < 2:
        return False
    return any(node.lineno <= line <= node.end_lineno for line in lines)


def own_nodes(scope):
    """Of a function, without the functions within it."""
    nodes, waiting = [], list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        if not isinstance(node, FUNCTIONS):
            nodes.append(node)
            waiting += ast.iter_child_nodes(node)
    return nodes


def assigned(nodes):
    """By name, all values that it is given."""
    values = {}
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    values.setdefault(target.id, []).append(node.value)
    return values


def called(value, values, depth=4):
    """`net` of `net(x)`, `self.net(x).squeeze(1)`, and of a name that has only such values; None for anything else."""
    while True:
        if isinstance(value, ast.Subscript) or isinstance(value, ast.Attribute) and value.attr == "logits":
            value = value.value
        elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in ARRANGING:
            value = value.func.value
        else:
            break
    if isinstance(value, ast.Name) and depth:
        found = {called(each, values, depth - 1) for each in values.get(value.id, ())}
        return found.pop() if len(found) == 1 else None
    is_name = isinstance(value, ast.Call) and isinstance(value.func, (ast.Name, ast.Attribute))
    return (value.func.id if isinstance(value.func, ast.Name) else value.func.attr) if is_name else None


def compared_with_half(node):
    """What is compared with 0.5, or rounded."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Gt, ast.GtE)):
        return node.left if is_half(node.comparators[0]) else None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if node.func.attr in ("gt", "ge", "greater", "greater_equal") and len(node.args) == 1 and is_half(node.args[0]):
        return node.func.value
    if node.func.attr == "round":
        is_function = isinstance(node.func.value, ast.Name) and node.func.value.id == "torch"
        return (node.args[0] if node.args else None) if is_function else node.func.value
    return None


def is_half(node):
    return isinstance(node, ast.Constant) and node.value == 0.5
