"""Faults of what is optimized, how fast, and from where."""

import ast

from tree import OPTIMIZERS, SCHEDULERS, fault, is_call, keyword, parsed, rewrite_calls, spelled


def builds(call):
    return is_call(call, *OPTIMIZERS) and call.args


def with_rate(change):
    """Rewrites the learning rate of each optimizer that names one, and of schedules that set their own."""

    def rewrite(call):
        rate = keyword(call, "lr") or keyword(call, "max_lr")
        if rate is None:
            return None
        rate.value = change(rate.value)
        return call

    return lambda tree: rewrite_calls(tree, lambda call: is_call(call, *OPTIMIZERS, "OneCycleLR", "CyclicLR"), rewrite)


@fault("zero-learning-rate")
def the_learning_rate_is_zero(tree):
    return with_rate(lambda value: ast.Constant(0.0))(tree)


@fault("unsuitable-learning-rate")
def the_learning_rate_is_far_too_small(tree):
    return with_rate(lambda value: ast.BinOp(value, ast.Mult(), ast.Constant(1e-7)))(tree)


@fault("unsuitable-learning-rate")
def the_learning_rate_is_far_too_large(tree):
    return with_rate(lambda value: ast.BinOp(value, ast.Mult(), ast.Constant(1000.0)))(tree)


@fault("missing-or-repeated-parameter")
def half_the_parameters_are_not_optimized(tree):
    def halved(call):
        if not spelled(call.args[0]).endswith(".parameters()"):
            return None
        text = spelled(call.args[0])
        call.args[0] = parsed(f"list({text})[: max(1, len(list({text})) // 2)]")
        return call

    return rewrite_calls(tree, builds, halved)


@fault("optimizer-holds-old-tensors")
def the_optimizer_holds_copies(tree):
    def copies(call):
        if not spelled(call.args[0]).endswith(".parameters()"):
            return None
        call.args[0] = parsed(f"[p.detach().clone().requires_grad_() for p in {spelled(call.args[0])}]")
        return call

    return rewrite_calls(tree, builds, copies)


@fault("missing-or-repeated-parameter")
def the_last_layer_is_frozen_by_mistake(tree):
    """After the optimizer is built, the model's last parameters need no gradient any more."""

    class Freeze(ast.NodeTransformer):
        places = 0

        def visit_Assign(self, node):
            call = next((n for n in ast.walk(node.value) if builds(n) if is_call(n, *OPTIMIZERS)), None)
            if call is None or not spelled(call.args[0]).endswith(".parameters()"):
                return node
            self.places += 1
            return [node, ast.Expr(parsed(f"[p.requires_grad_(False) for p in list({spelled(call.args[0])})[-2:]]"))]

    freeze = Freeze()
    freeze.visit(tree)
    return freeze.places


@fault("wrong-weight-decay-group")
def weight_decay_is_huge(tree):
    def rewrite(call):
        decay = keyword(call, "weight_decay")
        if decay is None:
            call.keywords.append(ast.keyword("weight_decay", ast.Constant(10.0)))
        else:
            decay.value = ast.Constant(10.0)
        return call

    return rewrite_calls(tree, lambda call: is_call(call, *(OPTIMIZERS - {"LBFGS", "SparseAdam", "Rprop"})), rewrite)


@fault("wrong-schedule-length")
def the_schedule_is_ten_times_too_long(tree):
    names = ("total_steps", "T_max", "total_iters", "step_size", "steps_per_epoch")

    def longer(call):
        found = [k for k in call.keywords if k.arg in names]
        for k in found:
            k.value = ast.BinOp(k.value, ast.Mult(), ast.Constant(10))
        return call if found else None

    return rewrite_calls(tree, lambda call: is_call(call, *SCHEDULERS), longer)
