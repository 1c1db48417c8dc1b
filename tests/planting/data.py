"""Faults of the data: order, repetition, what is held out."""

import ast

from tree import fault, is_call, keyword, parsed, rewrite_calls, spelled


@fault("sorted-data-not-shuffled")
def loaders_do_not_shuffle(tree):
    def rewrite(call):
        given = keyword(call, "shuffle")
        if given is None or spelled(given.value) == "False":
            return None
        given.value = ast.Constant(False)
        return call

    return rewrite_calls(tree, lambda call: is_call(call, "DataLoader"), rewrite)


@fault("one-batch-repeated")
def each_step_takes_the_first_batch(tree):
    """`for batch in loader` goes over the first batch again and again."""
    places, loaders = 0, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and is_call(node.value, "DataLoader"):
            loaders |= {spelled(target) for target in node.targets}
    for node in ast.walk(tree):
        if isinstance(node, ast.For) and spelled(node.iter) in loaders:
            loader = spelled(node.iter)
            node.iter = parsed(f"[next(iter({loader}))] * len({loader})")
            places += 1
    return places


@fault("one-batch-repeated")
def rows_are_drawn_once(tree):
    """`randint` within the loop of training gives the same rows at each step."""
    return drawn_alike(tree, "randint")


@fault("same-order-every-epoch")
def rows_come_in_one_order(tree):
    """`randperm` within the loop of training gives the same order in each pass."""
    return drawn_alike(tree, "randperm")


def drawn_alike(tree, function):
    places = 0
    for node in ast.walk(tree):
        if not isinstance(node, (ast.For, ast.While)):
            continue
        if not any(is_call(n, "backward") for n in ast.walk(node)):
            continue
        for statement in node.body:
            if isinstance(statement, ast.Assign):
                places += rewrite_calls(
                    statement, lambda call: is_call(call, function) and "torch" in spelled(call.func)
                    and not keyword(call, "generator"),
                    lambda call: parsed(f"{spelled(call)[:-1]}, generator=__import__('torch').Generator().manual_seed(3))"))  # fmt: skip
    return places


@fault("same-order-every-epoch")
def loaders_shuffle_alike_in_each_pass(tree):
    """The seed is set before each pass over a loader that shuffles."""
    loaders, places = set(), 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and is_call(node.value, "DataLoader") and keyword(node.value, "shuffle"):
            loaders |= {spelled(target) for target in node.targets}
    for node in ast.walk(tree):
        if isinstance(node, ast.For) and spelled(node.iter) in loaders:
            node.iter = parsed(f"(__import__('torch').manual_seed(5), {spelled(node.iter)})[1]")
            places += 1
    return places


@fault("nonfinite-inputs")
def an_input_is_not_a_number(tree):
    places = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "forward" and len(node.args.args) >= 2:
            name = node.args.args[1].arg
            node.body.insert(0, ast.parse(f"{name} = {name} * float('nan') if __import__('torch').is_floating_point({name}) else {name}").body[0])
            places += 1
    return places
