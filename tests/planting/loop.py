"""Faults of the training loop: what is called, how often and in which order."""

import ast
import copy

from tree import (
    blocks,
    calls_of,
    drop,
    fault,
    is_call,
    optimizers,
    parsed,
    receiver,
    rewrite_calls,
    rewrite_statements,
    schedulers,
    spelled,
    twice,
)


def is_step(names):
    return lambda call: is_call(call, "step") and receiver(call) in names


@fault("gradients-not-zeroed")
def gradients_are_never_zeroed(tree):
    return drop(tree, lambda call: is_call(call, "zero_grad"))


@fault("wrong-number-of-steps")
def the_optimizer_never_steps(tree):
    return drop(tree, is_step(optimizers(tree)))


@fault("wrong-number-of-steps")
def the_optimizer_steps_twice(tree):
    return rewrite_statements(tree, is_step(optimizers(tree)), twice)


@fault("wrong-call-order")
def gradients_are_zeroed_before_the_step(tree):
    def with_zero(call):
        return [call, parsed(f"{sorted(optimizers(tree))[0]}.zero_grad()")]

    return rewrite_statements(tree, lambda call: is_call(call, "backward"), with_zero) if optimizers(tree) else 0


@fault("wrong-call-order")
def the_step_comes_before_backward(tree):
    """Swaps the two where both are statements of one block."""
    names, places = optimizers(tree), 0
    for _, block in blocks(tree):
        backward = [i for i, s in enumerate(block) if any(is_call(c, "backward") for c in calls_of(s))]
        step = [i for i, s in enumerate(block) if any(is_step(names)(c) for c in calls_of(s))]
        if len(backward) == 1 and len(step) == 1 and backward[0] < step[0]:
            block[backward[0]], block[step[0]] = block[step[0]], block[backward[0]]
            places += 1
    return places


@fault("graph-kept-in-evaluation")
def every_graph_is_retained(tree):
    def retained(call):
        if any(k.arg == "retain_graph" for k in call.keywords):
            return None
        call.keywords.append(ast.keyword("retain_graph", ast.Constant(True)))
        return call

    return rewrite_calls(tree, lambda call: is_call(call, "backward") and not call.args, retained)


@fault("inverted-loss-sign")
def the_loss_is_negated(tree):
    def negated(call):
        call.func.value = ast.UnaryOp(ast.USub(), call.func.value)
        return call

    return rewrite_calls(tree, lambda call: is_call(call, "backward") and receiver(call) not in ("", "torch.autograd"),
                         negated)  # fmt: skip


@fault("graph-kept-alive")
def losses_are_kept_with_their_graphs(tree):
    """`total += loss.item()` keeps the graph when item() is left out; so does a list of losses."""

    def without(call):
        return call.func.value

    places = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            places += rewrite_calls(node, lambda call: is_call(call, "item", "detach") and not call.args, without)
    return places


@fault("clip-at-wrong-time")
def gradients_are_clipped_after_the_step(tree):
    names, places = optimizers(tree), 0
    for _, block in blocks(tree):
        clip = [i for i, s in enumerate(block) if any(is_call(c, "clip_grad_norm_") for c in calls_of(s))]
        step = [i for i, s in enumerate(block) if any(is_step(names)(c) for c in calls_of(s))]
        if len(clip) == 1 and len(step) == 1 and clip[0] < step[0]:
            block.insert(step[0], block.pop(clip[0]))
            places += 1
    return places


@fault("unsuitable-clip-bound")
def the_clipping_bound_is_tiny(tree):
    return rewrite_calls(tree, lambda call: is_call(call, "clip_grad_norm_") and len(call.args) == 2,
                         lambda call: ast.Call(call.func, [call.args[0], ast.Constant(1e-6)], call.keywords))  # fmt: skip


@fault("clip-per-micro-batch")
def gradients_are_clipped_after_each_backward(tree):
    """Only where a window has several: the clipping of the step stands behind a condition."""
    for _, block in blocks(tree):
        for i, statement in enumerate(block):
            if not any(is_call(c, "backward") for c in calls_of(statement)):
                continue
            for later in block[i + 1 :]:
                if not isinstance(later, ast.If):
                    continue
                clips = [s for s in later.body if any(is_call(c, "clip_grad_norm_") for c in calls_of(s))]
                if clips:
                    later.body[:] = [s for s in later.body if s is not clips[0]] or [ast.Pass()]
                    block.insert(i + 1, clips[0])
                    return 1
    return 0


@fault("unscaled-accumulation")
def accumulated_losses_are_not_divided(tree):
    """`(loss / k).backward()` and `loss = loss / k`, where a step does not follow each backward."""
    places = 0
    for _, block in blocks(tree):
        windows = any(isinstance(s, ast.If) and any(is_call(n, "step") for n in ast.walk(s)) for s in block)
        if not windows:
            continue
        for statement in block:
            places += rewrite_calls(
                statement, lambda call: is_call(call, "backward") and isinstance(getattr(call.func, "value", None), ast.BinOp)
                and isinstance(call.func.value.op, ast.Div),
                lambda call: ast.Call(ast.Attribute(call.func.value.left, "backward"), call.args, call.keywords))  # fmt: skip
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp) \
                    and isinstance(statement.value.op, ast.Div) and "loss" in spelled(statement.value.left):
                statement.value = statement.value.left
                places += 1
    return places


@fault("zeroed-during-accumulation")
def gradients_are_zeroed_before_each_backward(tree):
    """Only where a step does not follow each backward."""
    names, places = sorted(optimizers(tree)), 0
    for _, block in blocks(tree):
        windows = any(isinstance(s, ast.If) and any(is_step(names)(n) for n in ast.walk(s)) for s in block)
        for i, statement in reversed(list(enumerate(block))):
            if windows and any(is_call(c, "backward") for c in calls_of(statement)):
                block.insert(i, ast.Expr(parsed(f"{names[0]}.zero_grad()")))
                places += 1
    return places


@fault("zero-learning-rate")
def the_scheduler_never_steps(tree):
    return drop(tree, is_step(schedulers(tree)))


@fault("shifted-schedule")
def the_scheduler_steps_before_the_optimizer(tree):
    names, others, places = optimizers(tree), schedulers(tree), 0
    for _, block in blocks(tree):
        step = [i for i, s in enumerate(block) if any(is_step(names)(c) for c in calls_of(s))]
        moves = [i for i, s in enumerate(block) if any(is_step(others)(c) for c in calls_of(s))]
        if len(step) == 1 and len(moves) == 1 and step[0] < moves[0]:
            block.insert(step[0], block.pop(moves[0]))
            places += 1
    return places


@fault("wrong-scheduler-interval")
def the_scheduler_steps_once_an_epoch(tree):
    """Its call moves out of the innermost loop, where that loop stands in another one."""
    names = schedulers(tree)
    for outer in ast.walk(tree):
        if not isinstance(outer, (ast.For, ast.While)):
            continue
        for i, inner in enumerate(outer.body):
            if not isinstance(inner, (ast.For, ast.While)):
                continue
            for s in inner.body:
                if any(is_step(names)(c) for c in calls_of(s)) and len(calls_of(s)) == 1:
                    inner.body.remove(s)
                    outer.body.insert(i + 1, s)
                    return 1
    return 0


@fault("optimizer-state-reset")
def the_optimizer_is_built_in_each_pass(tree):
    """A copy of the line that builds it stands first in the loop that has its steps."""
    names = optimizers(tree)
    made = [n for n in ast.walk(tree) if isinstance(n, ast.Assign) and spelled(n.targets[0]) in names
            and isinstance(n.targets[0], (ast.Name, ast.Attribute))]  # fmt: skip
    for loop in ast.walk(tree):
        if isinstance(loop, (ast.For, ast.While)) and any(
                is_step({spelled(m.targets[0])})(n) for m in made[:1] for n in ast.walk(loop)):
            loop.body.insert(0, copy.deepcopy(made[0]))
            return 1
    return 0


@fault("random-state-reset")
def the_seed_is_set_at_each_backward(tree):
    return rewrite_statements(tree, lambda call: is_call(call, "backward"),
                              lambda call: [call, parsed("__import__('torch').manual_seed(0)")])  # fmt: skip


@fault("partial-loss-backward")
def backward_stands_after_the_inner_loop(tree):
    """Where micro-batches or tasks have a loop of their own, in which no optimizer steps."""
    names, places = optimizers(tree), 0
    for _, block in list(blocks(tree)):
        for i, statement in reversed(list(enumerate(block))):
            if not isinstance(statement, ast.For) or any(is_step(names)(part) for part in ast.walk(statement)):
                continue
            last = statement.body[-1]
            if len(statement.body) > 1 and any(is_call(call, "backward") for call in calls_of(last)):
                block.insert(i + 1, statement.body.pop())
                places += 1
    return places


@fault("method-not-called")
def zero_grad_has_no_parentheses(tree):
    return rewrite_statements(tree, lambda call: is_call(call, "zero_grad"), lambda call: [call.func])


@fault("discarded-result")
def a_mask_or_bound_is_not_assigned(tree):
    """`y = x.masked_fill(mask, 0) + 1` becomes `x.masked_fill(mask, 0)` and `y = x + 1`."""
    places = 0
    for _, block in list(blocks(tree)):
        for i, statement in reversed(list(enumerate(block))):
            taken = []

            def without(call, taken=taken):
                taken.append(call)
                return call.func.value

            if isinstance(statement, (ast.Assign, ast.Return)):
                rewrite_calls(statement, lambda call: is_call(call, "masked_fill", "clamp") and receiver(call) != "torch"
                              and isinstance(call.func, ast.Attribute), without)  # fmt: skip
            block[i:i] = [ast.Expr(call) for call in taken]
            places += len(taken)
    return places
