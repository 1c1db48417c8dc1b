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

TOKEN = "__dlcheck_token"
numbers = itertools.count()
places = {}  # by function
running = {}  # the function, by the code that it has with calls


class Place:
    """A function of torch and what the probe does around its calls."""

    def __init__(self, function, with_calls):
        self.function, self.original, self.with_calls = function, function.__code__, with_calls
        self.arounds = []

    def add(self, around):
        self.arounds.append(around)
        self.on()

    def on(self):
        self.function.__code__ = self.with_calls

    def off(self):
        self.function.__code__ = self.original

    def before(self, args, kwargs):
        """As a call begins: a token for each, in the order of `arounds`; the last one put in is told
        first, as of functions around functions."""
        if len(self.arounds) == 1:
            return self.arounds[0].before(args, kwargs)
        tokens = [around.before(args, kwargs) for around in reversed(self.arounds)]
        return tokens[::-1] if any(token is not None for token in tokens) else None

    def pairs(self, token):
        if token is None:
            return ()
        if len(self.arounds) == 1:  # as of every call of a module
            return ((self.arounds[0], token),)
        return [(a, t) for a, t in zip(self.arounds, token) if t is not None]

    def first(self, token, value):
        """What the function is to have for its first argument."""
        for around, own in self.pairs(token):
            value = around.first(own, value)
        return value

    def after(self, token, result):
        """As a call returns; gives the result."""
        for around, own in self.pairs(token):
            around.after(own, result)
        return result

    def ended(self, token):
        """Whether it returned or raised."""
        for around, own in self.pairs(token):
            around.ended(own)


def put_into(function, around):
    """The Place of the function, in which the calls of `around` now are; None where that cannot be."""
    function = innermost(function)
    if function is None:
        return None
    if function not in places:
        made = place_in(function)
        if made is None:
            return None
        places[function] = made
    places[function].add(around)
    return places[function]


def tell_lengths(function, told):
    """Puts `told(thing, length)` into a function at each `len(thing)`, after that was asked; it gives the
    length. So nobody has to ask a thing of the program once more."""
    found = definition_of(function)
    if found is None:
        return
    tree, definition = found
    told_as = f"__dlcheck_length_{next(numbers)}__"
    Lengths(told_as).visit(definition)
    code = compiled(ast.fix_missing_locations(tree), function)
    if code is not None and code.co_freevars == function.__code__.co_freevars:
        function.__globals__[told_as] = told
        function.__code__ = code


def innermost(function):
    """The function that decorators of torch stand around; None for what is not written in Python."""
    while isinstance(function, types.FunctionType) and hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function if isinstance(function, types.FunctionType) else None


def place_in(function):
    found = definition_of(function)
    if found is None:
        return None
    tree, definition = found
    names = [f"__dlcheck_{what}_{next(numbers)}__" for what in ("before", "first", "after", "ended")]
    rewrite(definition, *names)
    code = compiled(tree, function)
    if code is None or code.co_freevars != function.__code__.co_freevars:
        return None
    place, running[code] = Place(function, code), function
    calls = (place.before, place.first, place.after, place.ended)
    function.__globals__.update(zip(names, calls))
    return place


def rewrite(definition, before, first, after, ended):
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
    start = [assign(TOKEN, call(before, ast.Tuple(args, ast.Load()), ast.Dict(keys, values)))]
    if in_order:
        start.append(assign(in_order[0], call(first, name(TOKEN), name(in_order[0]))))
    body = [Returns(after).visit(statement) for statement in body]
    body.append(ast.Expr(call(after, name(TOKEN), ast.Constant(None))))
    end = ast.Expr(call(ended, name(TOKEN)))
    around = ast.Try(body=body, handlers=[], orelse=[], finalbody=[end])
    # What is added belongs to the line of the definition, for whoever prints frames.
    for added in (*start, around, body[-1], end):
        for node in ast.walk(added) if added is not around else (added,):
            node.lineno = node.end_lineno = definition.lineno
            node.col_offset = node.end_col_offset = 0
    definition.body = [*head, *start, around]


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
        handed = call(self.after, name(TOKEN), value)
        for added in (handed, handed.func, handed.args[0]):
            ast.copy_location(added, node)
        node.value = handed
        return node

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
