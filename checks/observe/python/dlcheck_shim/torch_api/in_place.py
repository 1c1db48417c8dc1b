"""Puts calls of the probe into functions of torch themselves, so that no frame of the probe stands between
the program and torch: warnings name the program's line, tracebacks have the lines that they had, and the
recursion limit is as far away.

The function stays the same object; its code is compiled anew from its own lines of its own file, with
three calls added. That is done only where the same lines, unchanged, compile to the code that it has.
"""

import ast
import itertools
import types

from .definitions import compiled, definition_of

CALLS = ("before", "first", "after", "ended")  # as an Around has them
TOKEN, RESULT = "__dlcheck_token", "__dlcheck_result"
numbers = itertools.count()
places = {}  # by function
running = {}  # the function, by the code that it has with calls


class Codes:
    """The two codes of a function: its own, and one with calls of the probe. A call that is under way keeps
    the code that it began with, and so the names that the calls have in the function's module stay."""

    def __init__(self, function, with_calls=None):
        self.function, self.original, self.with_calls = function, function.__code__, with_calls

    def on(self):
        self.function.__code__ = self.with_calls

    def off(self):
        self.function.__code__ = self.original


class Place(Codes):
    """A function of torch and what the probe does around its calls. Its code calls what the one Around
    gives, or this Place where there are several, and only what any of them has."""

    def __init__(self, function):
        super().__init__(function)
        self.names = {}  # what the calls are called in the code; a call under way keeps its own
        self.arounds, self.called = [], frozenset()

    def add(self, around):
        """False where the calls cannot be put into the function."""
        arounds = [*self.arounds, around]
        called = frozenset(call for call in CALLS if any(getattr(a, call) for a in arounds))
        names = self.names
        if called != self.called or len(arounds) == 2:  # tokens of one are not those of several
            self.off()
            names = new_names()
            code = code_with(self.function, {call: names[call] for call in called})
            if code is None:
                if self.arounds:
                    self.on()
                return False
            self.called, self.with_calls = called, code
            running[code] = self.function
        self.arounds, self.names = arounds, names
        home = around if len(arounds) == 1 else self
        self.function.__globals__.update((self.names[call], getattr(home, call)) for call in called)
        self.on()
        return True

    # Of several: a token for each, in their order; the last one put in is told first, as of functions
    # around functions.

    def before(self, args, kwargs):
        tokens = [around.before(args, kwargs) for around in reversed(self.arounds)]
        return tokens[::-1] if any(token is not None for token in tokens) else None

    def told(self, token, call):
        return ((a, t) for a, t in zip(self.arounds, token) if t is not None and getattr(a, call))

    def first(self, token, value):
        for around, own in self.told(token, "first"):
            value = around.first(own, value)
        return value

    def after(self, token, result):
        for around, own in self.told(token, "after"):
            around.after(own, result)

    def ended(self, token):
        for around, own in self.told(token, "ended"):
            around.ended(own)


def new_names():
    return {call: f"__dlcheck_{call}_{next(numbers)}__" for call in CALLS}


def put_into(function, around):
    """The Place of the function, in which the calls of `around` now are; None where that cannot be."""
    function = innermost(function)
    if function is None:
        return None
    place = places.get(function) or Place(function)
    if not place.add(around):
        return None
    places[function] = place
    return place


def place_of(code):
    """The Place whose calls this code has, or None."""
    return places.get(running.get(code))


def tell_lengths(function, told):
    """Puts `told(thing, length)` into a function at each `len(thing)`, after that was asked; it gives the
    length. So nobody has to ask a thing of the program once more. None where that cannot be."""
    found = definition_of(function)
    if found is None:
        return None
    tree, definition = found
    told_as = f"__dlcheck_length_{next(numbers)}__"
    Lengths(told_as).visit(definition)
    code = compiled(ast.fix_missing_locations(tree), function)
    if code is None or code.co_freevars != function.__code__.co_freevars:
        return None
    function.__globals__[told_as] = told
    told_place = Codes(function, code)
    told_place.on()
    return told_place


def innermost(function):
    """The function that decorators of torch stand around; None for what is not written in Python."""
    while isinstance(function, types.FunctionType) and hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function if isinstance(function, types.FunctionType) else None


def code_with(function, names):
    """The function's code with calls of these names, by what each does; None where that cannot be."""
    found = definition_of(function)
    if found is None:
        return None
    tree, definition = found
    rewrite(definition, names)
    code = compiled(tree, function)
    return code if code is not None and code.co_freevars == function.__code__.co_freevars else None


def rewrite(definition, names):
    """Puts the calls of these names around the body of a definition."""
    arguments = definition.args
    in_order = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    args = [name(argument) for argument in in_order]
    if arguments.vararg:
        args.append(ast.Starred(name(arguments.vararg.arg), ast.Load()))
    keys = [ast.Constant(argument.arg) for argument in arguments.kwonlyargs]
    values = [name(argument.arg) for argument in arguments.kwonlyargs]
    if arguments.kwarg:
        keys.append(None)
        values.append(name(arguments.kwarg.arg))
    head, body = documented(definition.body)
    start = [assign(TOKEN, call(names["before"], ast.Tuple(args, ast.Load()), ast.Dict(keys, values)))]
    if in_order and "first" in names:
        start.append(told(assign(in_order[0], call(names["first"], name(TOKEN), name(in_order[0])))))
    end = []
    if "after" in names:
        returns = Returns(names["after"])
        body = [part for statement in body for part in listed(returns.visit(statement))]
        end = [told(ast.Expr(call(names["after"], name(TOKEN), ast.Constant(None))))]
    around = [*body, *end]
    if "ended" in names:
        final = told(ast.Expr(call(names["ended"], name(TOKEN))))
        around = [ast.Try(body=around, handlers=[], orelse=[], finalbody=[final])]
        end = [*end, final]
    # What is added belongs to the line of the definition, for whoever prints frames.
    for added in (*start, *end):
        place_at(added, definition.lineno)
    if around[0] not in body:
        around[0].lineno = around[0].end_lineno = definition.lineno
        around[0].col_offset = around[0].end_col_offset = 0
    definition.body = [*head, *start, *around]


def place_at(added, line):
    for node in ast.walk(added):
        node.lineno = node.end_lineno = line
        node.col_offset = node.end_col_offset = 0


def told(statement):
    """The statement, where there is a token."""
    is_token = ast.Compare(name(TOKEN), [ast.IsNot()], [ast.Constant(None)])
    return ast.If(is_token, [statement], [])


def listed(visited):
    return visited if isinstance(visited, list) else [visited]


def documented(body):
    """The statement that documents a function, which has to stay the first, and the others."""
    is_text = isinstance(body[0], ast.Expr) and isinstance(getattr(body[0], "value", None), ast.Constant)
    return (body[:1], body[1:]) if is_text else ([], body)


class Returns(ast.NodeTransformer):
    """Hands what the function returns to `after`."""

    def __init__(self, after):
        self.after = after

    def visit_Return(self, node):
        value = node.value or ast.copy_location(ast.Constant(None), node)
        handed = told(ast.Expr(call(self.after, name(TOKEN), name(RESULT))))
        node.value = name(RESULT)
        kept = assign(RESULT, value)
        for added in (kept, kept.targets[0], *ast.walk(handed), node.value):
            ast.copy_location(added, node)
        return [kept, handed, node]

    def visit_FunctionDef(self, node):
        return node  # what is written inside returns to the function itself

    visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = visit_FunctionDef


class Lengths(ast.NodeTransformer):
    """Hands what stands in an attribute, and the length that it was asked for, to `told`."""

    def __init__(self, told):
        self.told = told

    def visit_Call(self, node):
        self.generic_visit(node)
        asks = isinstance(node.func, ast.Name) and node.func.id == "len"
        if not asks or not isinstance(node.args[0], ast.Attribute):
            return node
        handed = call(self.told, node.args[0], node)
        for added in (handed, handed.func):
            ast.copy_location(added, node)
        return handed


def name(text):
    return ast.Name(text, ast.Load())


def call(function, *args):
    return ast.Call(name(function), list(args), [])


def assign(text, value):
    return ast.Assign([ast.Name(text, ast.Store())], value)
