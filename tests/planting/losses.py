"""Faults of what a loss is given, and of what it does with it."""

import ast

from tree import LOSSES, fault, is_call, keyword, parsed, rewrite_calls, spelled

FUNCTIONS = {name for name in LOSSES if name[0].islower()}
CLASSES = LOSSES - FUNCTIONS


def objects(tree):
    """Names of loss modules that the program built, as they are spelled."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and is_call(node.value, *CLASSES):
            found[spelled(node.targets[0])] = node.value.func
    return found


def on_losses(kinds, rewrite):
    """Rewrites calls of losses with an output and a target, by function or by module, of these kinds."""

    def change(tree):
        made = objects(tree)

        def wanted(call):
            if len(call.args) < 2:
                return False
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if name in kinds:
                return True
            built = made.get(spelled(call.func))
            return built is not None and (built.attr if isinstance(built, ast.Attribute) else built.id) in kinds

        return rewrite_calls(tree, wanted, rewrite)

    return change


def first(text):
    """The output of the model, put into `text` at OUT."""

    def rewrite(call):
        call.args[0] = parsed(text.replace("OUT", f"({spelled(call.args[0])})"))
        return call

    return rewrite


def second(text):
    def rewrite(call):
        call.args[1] = parsed(text.replace("TARGET", f"({spelled(call.args[1])})"))
        return call

    return rewrite


CROSS_ENTROPY = {"cross_entropy", "CrossEntropyLoss"}
ON_LOGITS = {"binary_cross_entropy_with_logits", "BCEWithLogitsLoss"}
SQUARES = {"mse_loss", "MSELoss", "l1_loss", "L1Loss", "smooth_l1_loss", "SmoothL1Loss", "huber_loss", "HuberLoss"}


@fault("wrong-loss-input")
def softmax_before_cross_entropy(tree):
    return on_losses(CROSS_ENTROPY, first("OUT.softmax(1)"))(tree)


@fault("wrong-loss-input")
def sigmoid_before_a_loss_on_logits(tree):
    return on_losses(ON_LOGITS, first("OUT.sigmoid()"))(tree)


@fault("wrong-loss-input")
def nll_loss_of_raw_scores(tree):
    def rewrite(call):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id
        if name != "cross_entropy" or call.keywords:
            return None
        call.func = parsed("__import__('torch').nn.functional.nll_loss")
        return call

    return on_losses({"cross_entropy"}, rewrite)(tree)


@fault("detached-path")
def the_loss_gets_a_detached_output(tree):
    return on_losses(LOSSES, first("OUT.detach().requires_grad_()"))(tree)


@fault("mispaired-targets")
def targets_are_shuffled(tree):
    return on_losses(LOSSES, second("TARGET[__import__('torch').randperm(len(TARGET))]"))(tree)


@fault("mispaired-targets")
def targets_are_rolled_by_one(tree):
    return on_losses(LOSSES, second("TARGET.roll(1, 0)"))(tree)


@fault("all-targets-ignored")
def every_target_is_ignored(tree):
    return on_losses(CROSS_ENTROPY, second("TARGET * 0 - 100"))(tree)


@fault("broadcast-loss")
def targets_have_another_axis(tree):
    """(n) against (n, 1) broadcasts to (n, n)."""
    return on_losses(SQUARES, second("TARGET.reshape(len(TARGET), -1)[:, :1].squeeze(1) if (TARGET).dim() == 2 and "
                                     "(TARGET).shape[1] == 1 else (TARGET).unsqueeze(-1)"))(tree)  # fmt: skip


@fault("summed-instead-of-averaged-loss")
def the_loss_is_a_sum(tree):
    def summed(call):
        given = keyword(call, "reduction")
        if given is not None:
            return None
        call.keywords.append(ast.keyword("reduction", ast.Constant("sum")))
        return call

    return rewrite_calls(tree, lambda call: is_call(call, *LOSSES), summed)


@fault("vanishing-gradients")
def the_loss_is_tiny(tree):
    def scaled(call):
        call.func.value = ast.BinOp(call.func.value, ast.Mult(), ast.Constant(1e-9))
        return call

    return rewrite_calls(tree, lambda call: is_call(call, "backward") and isinstance(call.func, ast.Attribute)
                         and spelled(call.func.value) != "torch.autograd", scaled)  # fmt: skip


@fault("ineffective-regularizer")
def gradients_of_a_penalty_have_no_graph(tree):
    def rewrite(call):
        keyword(call, "create_graph").value = ast.Constant(False)
        return call

    return rewrite_calls(tree, lambda call: is_call(call, "grad") and keyword(call, "create_graph") is not None, rewrite)


@fault("log-variance-as-log-deviation")
def a_variance_scales_the_noise(tree):
    """Of exp() of half of something, the half is left out."""

    def half_of(call):
        given = call.args[0] if call.args else call.func.value if isinstance(call.func, ast.Attribute) else None
        if not isinstance(given, ast.BinOp):
            return None
        left, right = spelled(given.left), spelled(given.right)
        if isinstance(given.op, ast.Mult) and "0.5" in (left, right):
            return given.right if left == "0.5" else given.left
        return given.left if isinstance(given.op, ast.Div) and right in ("2", "2.0") else None

    def rewrite(call):
        whole = half_of(call)
        if call.args:
            call.args[0] = whole
        else:
            call.func.value = whole
        return call

    return rewrite_calls(tree, lambda call: is_call(call, "exp") and half_of(call) is not None, rewrite)
