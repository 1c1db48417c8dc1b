"""By check: the change that mends its finding. Each function is given the source, the line of the finding and its
message, and gives the lines of the program as they should be; None where it does not understand them.
"""

import ast
import re

from .source import is_call_of, name_of, receiver_of

SCHEDULERS = ("LR", "Restarts", "Plateau", "Schedule", "Scheduler")


def add_zero_grad(source, line, message):
    """Before what computes the gradients, in the block in which they are used; behind the step where they are
    computed outside of that."""
    backward, step = call_at(source, line, "backward"), only_step(source, line)
    if backward is None or step is None:
        return None
    statement = source.statement_at(step.lineno)
    before = source.around_in(backward, source.block_of(statement))
    text = f"{optimizer_of(step)}.zero_grad()"
    if before is statement:
        return None
    return source.appended(statement, text) if before is None else source.inserted(before, text)


def release_graph(source, line, message):
    backward = call_at(source, line, "backward")
    kept = [keyword for keyword in backward.keywords if keyword.arg == "retain_graph"] if backward else []
    if not kept:
        return None
    others = [ast.unparse(part) for part in backward.args]
    others += [ast.unparse(keyword) for keyword in backward.keywords if keyword not in kept]
    function = source.text_of(backward.func)
    return function and source.text_of(backward) and source.replaced(backward, f"{function}({', '.join(others)})")


def clip_first(source, line, message):
    """Before the step that uses the gradients."""
    return moved_before(source, source.statement_at(line), only_step(source, line))


def step_after_backward(source, line, message):
    step = source.statement_at(line)
    backward = calls_in(source, step, "backward")
    return moved_behind(source, step, backward[0]) if len(backward) == 1 else None


def schedule_after_step(source, line, message):
    return moved_behind(source, source.statement_at(line), only_step(source, line))


def drop_softmax(source, line, message):
    """Of the first argument of the loss, or where that argument is assigned."""
    for loss in source.calls_at(line):
        scores = loss.args[0] if loss.args else None
        if isinstance(scores, ast.Name):
            scores = assigned(source, loss, scores.id)
        inner = before_softmax(scores)
        if inner is not None and source.text_of(scores) and source.text_of(inner):
            return source.replaced(scores, source.text_of(inner))
    return None


def unscale_first(source, line, message):
    clip = source.statement_at(line)
    steps = [call for call in calls_in(source, clip, "step") if len(call.args) == 1]
    later = [call for call in calls_in(source, clip, "unscale_") if call.lineno > line]
    if later:
        return moved_before(source, source.statement_at(later[0].lineno), source.calls_at(line)[0])
    if clip is None or len({ast.unparse(step) for step in steps}) != 1:
        return None
    return source.inserted(clip, f"{receiver_of(steps[0])}.unscale_({ast.unparse(steps[0].args[0])})")


def evaluate_in_eval_mode(source, line, message):
    """Around the loop over the data, or the block without gradients, in the function that evaluates."""
    statement = source.statement_at(line)
    models = [ast.unparse(call.func) for call in source.calls_at(line) if isinstance(call.func, (ast.Name, ast.Attribute))
              and call.args and not isinstance(call.args[0], ast.Constant)]  # fmt: skip
    models = [name for name in models if name in trained(source)]
    scope = source.scope_of(statement)
    around = source.around_in(statement, scope.body)
    if len(set(models)) != 1 or around is None or isinstance(around, ast.Return):
        return None
    if scope is source.tree and around is not statement and isinstance(around, (ast.For, ast.While)):
        return None  # the loop over the epochs
    behind = source.appended(around, f"{models[0]}.train()")
    at = around.lineno - 1
    return [*behind[:at], f"{source.indent_of(around)}{models[0]}.eval()\n", *behind[at:]]


def divide_by_window(source, line, message):
    window, backward = re.search(r"windows of (\d+) micro-batches", message), call_at(source, line, "backward")
    if window is None or backward is None or not isinstance(backward.func, ast.Attribute):
        return None
    loss = backward.func.value
    text = source.text_of(loss)
    return text and source.replaced(loss, f"({text} / {window[1]})")


def shuffle(source, line, message):
    """In the call that makes the loader."""
    made = [call for call in source.calls_at(line) if is_call_of(call, "DataLoader")]
    if len(made) != 1 or any(k.arg in ("sampler", "batch_sampler") for k in made[0].keywords):
        return None
    made = made[0]
    said = next((keyword.value for keyword in made.keywords if keyword.arg == "shuffle"), None)
    if said is not None:
        return source.replaced(said, "True") if source.text_of(said) else None
    text = source.text_of(made)
    return text and source.replaced(made, text[:-1].rstrip().rstrip(",") + ", shuffle=True)")


def take_result(source, line, message):
    """A method that is named and not called, or whose result nobody takes."""
    statement = source.statement_at(line)
    value = statement.value if isinstance(statement, ast.Expr) else None
    text = value is not None and source.text_of(value)
    if not text:
        return None
    if isinstance(value, ast.Attribute):
        return source.replaced(value, f"{text}()")
    owner = receiver_of(value) if isinstance(value, ast.Call) else None
    return source.replaced(value, f"{owner} = {text}") if owner and owner.isidentifier() else None


def fill_in_infinity(source, line, message):
    scope = source.statement_at(line)
    fills = [call for call in ast.walk(scope) if is_call_of(call, "masked_fill", "masked_fill_") and len(call.args) == 2]
    fills = [call.args[1] for call in fills if isinstance(call.args[1], ast.UnaryOp) and source.text_of(call.args[1])]
    return source.replaced(fills[0], 'float("-inf")') if len(fills) == 1 else None


REPAIRS = {
    "attention/finite_mask": fill_in_infinity,
    "data/unshuffled": shuffle,
    "evaluation/in_train_mode": evaluate_in_eval_mode,
    "gradients/clipped_after_step": clip_first,
    "model/double_softmax": drop_softmax,
    "optimizer/stale_gradients": add_zero_grad,
    "precision/clip_before_unscale": unscale_first,
    "program/discarded_result": take_result,
    "program/method_not_called": take_result,
    "schedule/stepped_before_optimizer": schedule_after_step,
    "training_loop/retained_graph": release_graph,
    "training_loop/step_before_backward": step_after_backward,
    "training_loop/unscaled_accumulation": divide_by_window,
}

CHANGES_LOSS = {"training_loop/unscaled_accumulation"}  # a loss before and after such a repair is no pair


def call_at(source, line, name):
    found = [call for call in source.calls_at(line) if is_call_of(call, name)]
    return found[0] if len(found) == 1 else None


def calls_in(source, node, name):
    """Calls of this name in the function around a node."""
    scope = source.scope_of(node) if node is not None else source.tree
    return [call for call in ast.walk(scope) if is_call_of(call, name) and isinstance(call.func, ast.Attribute)]


def made_by_schedulers(source):
    """Texts of the targets that schedulers are assigned to."""
    return {ast.unparse(target) for node in ast.walk(source.tree) if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call) and str(name_of(node.value.func)).endswith(SCHEDULERS)
            for target in node.targets}  # fmt: skip


def only_step(source, line):
    """The one call that steps an optimizer, in the function around a line."""
    schedulers = made_by_schedulers(source)
    steps = [call for call in calls_in(source, source.statement_at(line), "step")
             if receiver_of(call) not in schedulers and len(call.args) <= 1]  # fmt: skip
    return steps[0] if len(steps) == 1 else None


def optimizer_of(step):
    """Of `optimizer.step()` and of `scaler.step(optimizer)`."""
    named = step.args[0] if step.args and isinstance(step.args[0], (ast.Name, ast.Attribute)) else None
    return ast.unparse(named) if named is not None else receiver_of(step)


def moved_before(source, statement, call):
    other = source.around_in(call, source.block_of(statement)) if statement is not None and call is not None else None
    return None if other is None or other is statement else source.moved(statement, other)


def moved_behind(source, statement, call):
    block = source.block_of(statement) if statement is not None else []
    other = source.around_in(call, block) if call is not None else None
    if other is None or other is statement:
        return None
    own = source.lines[statement.lineno - 1 : statement.end_lineno]
    lines = [*source.lines[: other.end_lineno], *own, *source.lines[other.end_lineno :]]
    return [*lines[: statement.lineno - 1], *lines[statement.end_lineno :]]


def assigned(source, near, name):
    """What was assigned to a name last before a node, in its function."""
    values = [node.value for node in ast.walk(source.scope_of(near)) if isinstance(node, ast.Assign)
              and node.lineno < near.lineno and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)]  # fmt: skip
    return max(values, key=lambda value: value.lineno, default=None)


def before_softmax(node):
    """What softmax is taken of: `x` of `x.softmax(1)`, of `F.softmax(x, 1)` and of `nn.Softmax(1)(x)`."""
    if not isinstance(node, ast.Call):
        return None
    if is_call_of(node.func, "Softmax") and len(node.args) == 1:
        return node.args[0]
    if not is_call_of(node, "softmax"):
        return None
    home = receiver_of(node)
    is_function = home is None or home in ("F", "torch", "functional", "nn.functional", "torch.nn.functional")
    return (node.args[0] if node.args else None) if is_function else node.func.value


def trained(source):
    """Texts on which train(), eval() or parameters() is called."""
    return {receiver_of(call) for call in ast.walk(source.tree)
            if is_call_of(call, "train", "eval", "parameters") and isinstance(call.func, ast.Attribute)}  # fmt: skip
