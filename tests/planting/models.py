"""Faults in the model: modes, axes, masks, cut paths."""

import ast

from tree import drop, fault, is_call, keyword, parsed, rewrite_calls, spelled


@fault("evaluation-in-train-mode")
def eval_is_never_called(tree):
    places = drop(tree, lambda call: is_call(call, "eval") and not call.args)
    # model.train(flag) and `model.train(False)` are ways to say it, too.
    return places + rewrite_calls(tree, lambda call: is_call(call, "train") and len(call.args) == 1,
                                  lambda call: ast.Call(call.func, [ast.Constant(True)], []))  # fmt: skip


@fault("training-in-eval-mode")
def train_calls_say_eval(tree):
    def rewrite(call):
        call.func.attr = "eval"
        call.args = []
        return call

    return rewrite_calls(tree, lambda call: is_call(call, "train") and isinstance(call.func, ast.Attribute)
                         and (not call.args or spelled(call.args[0]) == "True"), rewrite)  # fmt: skip


@fault("training-in-eval-mode")
def train_is_never_called_again(tree):
    has_eval = any(is_call(node, "eval") and not node.args for node in ast.walk(tree))
    return drop(tree, lambda call: is_call(call, "train") and not call.args) if has_eval else 0


@fault("target-with-gradient")
def nothing_runs_without_gradients(tree):
    """What only keeps a graph ends in the same state, and does not count. In the other programs, gradients go
    where none were meant to."""
    places = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.With):
            for item in node.items:
                if is_call(item.context_expr, "no_grad", "inference_mode"):
                    item.context_expr = parsed("__import__('contextlib').nullcontext()")
                    places += 1
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            kept = [d for d in node.decorator_list if not is_call(d, "no_grad", "inference_mode")]
            places += len(node.decorator_list) - len(kept)
            node.decorator_list = kept
    return places


@fault("dropout-active-in-eval")
def functional_dropout_ignores_the_mode(tree):
    def rewrite(call):
        given = keyword(call, "training")
        if given is not None:
            given.value = ast.Constant(True)
            return call
        return None

    return rewrite_calls(tree, lambda call: is_call(call, "dropout", "scaled_dot_product_attention"), rewrite)


@fault("dropout-active-in-eval")
def dropout_is_a_function_that_ignores_the_mode(tree):
    """`self.drop(x)` of an nn.Dropout becomes `F.dropout(x)`, whose default is to train."""
    made = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and is_call(node.value, "Dropout"):
            made |= {spelled(target): node.value for target in node.targets}

    def rewrite(call):
        built = made[spelled(call.func)]
        return ast.Call(parsed("__import__('torch').nn.functional.dropout"), [*call.args, *built.args], built.keywords)

    return rewrite_calls(tree, lambda call: spelled(call.func) in made and len(call.args) == 1, rewrite)


@fault("reshape-instead-of-transpose")
def a_reshape_stands_for_a_transpose(tree):
    def rewrite(call):
        if len(call.args) != 2:
            return None
        x, a, b = spelled(call.func.value), spelled(call.args[0]), spelled(call.args[1])
        return parsed(f"(lambda t: t.reshape(t.transpose({a}, {b}).shape))({x})")

    return rewrite_calls(tree, lambda call: is_call(call, "transpose") and isinstance(call.func, ast.Attribute)
                         and spelled(call.func.value) != "torch", rewrite)  # fmt: skip


@fault("normalization-over-batch-axis")
def softmax_runs_over_the_batch(tree):
    return rewrite_calls(tree, lambda call: is_call(call, "softmax", "log_softmax") and (call.args or call.keywords),
                         lambda call: along(call, 0))  # fmt: skip


@fault("softmax-over-queries")
def attention_is_normalized_over_the_queries(tree):
    """In each function that multiplies matrices, as attention does."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return sum(rewrite_calls(function, lambda call: is_call(call, "softmax") and (call.args or call.keywords),
                             lambda call: along(call, -2))
               for function in functions if any(isinstance(node, ast.MatMult) for node in ast.walk(function)))  # fmt: skip


def along(call, axis):
    """The softmax along another axis; None where it names none."""
    given = keyword(call, "dim")
    if given is not None:
        given.value = ast.Constant(axis)
    elif call.args and isinstance(call.func, ast.Attribute):
        call.args[-1] = ast.Constant(axis)
    else:
        return None
    return call


@fault("causal-mask-leak")
def attention_is_not_causal(tree):
    def rewrite(call):
        given = keyword(call, "is_causal")
        if given is None or spelled(given.value) != "True":
            return None
        given.value = ast.Constant(False)
        return call

    return rewrite_calls(tree, lambda call: True, rewrite)


@fault("attended-padding")
def padding_masks_are_left_out(tree):
    def rewrite(call):
        given = keyword(call, "src_key_padding_mask") or keyword(call, "key_padding_mask")
        if given is None:
            return None
        given.value = ast.Constant(None)
        return call

    return rewrite_calls(tree, lambda call: True, rewrite)


@fault("detached-path")
def an_inner_activation_is_detached(tree):
    """The first value that each forward assigns is cut off from its graph."""
    places = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "forward":
            for statement in node.body:
                if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name) \
                        and isinstance(statement.value, ast.Call) and spelled(statement.value.func).startswith("self."):
                    statement.value = ast.Call(ast.Attribute(statement.value, "detach"), [], [])
                    places += 1
                    break
    return places


@fault("unnormalized-inputs")
def inputs_of_the_model_are_a_thousand_times_too_large(tree):
    places = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "forward" and len(node.args.args) >= 2:
            name = node.args.args[1].arg
            scaled = ast.parse(f"{name} = {name} * 1000 if __import__('torch').is_floating_point({name}) else {name}").body[0]
            node.body.insert(0, scaled)
            places += 1
    return places


@fault("detached-path")
def forward_runs_without_gradients_in_part(tree):
    """`with torch.no_grad()` around the first call of a layer in each forward."""
    places = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "forward":
            for i, statement in enumerate(node.body):
                if isinstance(statement, ast.Assign) and "self." in spelled(statement.value):
                    node.body[i] = ast.With([ast.withitem(parsed("__import__('torch').no_grad()"))], [statement])
                    places += 1
                    break
    return places
