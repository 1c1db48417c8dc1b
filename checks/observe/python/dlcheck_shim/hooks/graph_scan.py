"""Looks through the whole autograd graph of a few backward calls of a run, before they take it apart, for
what `autograd` can read from it. A node tells neither its module nor its line: modules are known by the
numbers that the nodes made inside of them have.
"""

import dis

from ..autograd.rearranged import misdirected_softmax, swapped_sizes
from ..record.sites import OWN, kind_of
from ..torch_api import private
from ..torch_api.attributes import attribute
from .modules import codes_of

MOST_NODES, MOST_SCANS = 20_000, 8
STEPS = 3  # of a run whose graphs are looked at: from one step to the next, batches may differ in size
RESHAPES, NORMALIZERS = ("view", "reshape", "view_as", "reshape_as"), ("softmax", "Softmax")


class GraphScan:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.scan = guard.isolated("graph", asks_tensors=False)(self.scan)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.spans = []  # first and next number of the nodes made inside of a module, its class; inner ones first
        self.scans, self.told = 0, {}

    def subscribe(self, moments):
        moments.stepped.append(self.end_step)

    def end_step(self):
        """A graph may reach back into an earlier step, so spans stay as long as any graph is looked at."""
        if self.spans and not self.wanted():
            self.spans = []

    def wanted(self):
        return self.recorder.step < STEPS and self.scans < MOST_SCANS and private.has_sequence_numbers

    def begin(self):
        """Before a module is called: the number that the next node has, None where nobody will ask."""
        return private.next_sequence_number() if self.wanted() else None

    def module_ended(self, module, first):
        """`first` is what `begin` gave."""
        self.spans.append((first, private.next_sequence_number(), type(module)))

    def scan(self, loss):
        if not self.spans:  # as where modules are compiled: whose code made a node is not known
            return
        self.scans += 1
        waiting, met = [(loss.grad_fn, None)], set()
        while waiting and len(met) < MOST_NODES:
            node, user = waiting.pop()
            if node is None or node in met:
                continue
            met.add(node)
            sizes = swapped_sizes(node, user)
            if sizes is not None:
                self.tell("swapped_sizes", node, sizes, 1.0, RESHAPES)
            axis = misdirected_softmax(node)
            if axis is not None:
                self.tell("misdirected_softmax", node, "attention", float(axis), NORMALIZERS)
            waiting += [(before, node) for before, _ in node.next_functions]

    def tell(self, quantity, node, name, value, words):
        kind = self.module_of(node)
        if kind is not None and kind_of(code_of(kind).co_filename if code_of(kind) else "") != OWN:
            return
        key = (quantity, name, kind)
        if key in self.told:
            return
        self.told[key] = True
        site = self.sites.current() if kind is None else self.site_in(kind, words)
        thing = self.recorder.thing("operation", len(self.told), name)
        self.recorder.quantity(quantity, thing, value, site=site)

    def module_of(self, node):
        """The class of the innermost module in which a node was made; None if it was in none."""
        number = private.sequence_number_of(node)
        return next((kind for first, end, kind in self.spans if first <= number < end), None)

    def site_in(self, kind, words):
        """The one line of a class that names one of `words`; where there are several, its forward()."""
        codes = [code for function in vars(kind).values() for code in codes_of(attribute(function, "__code__"))]
        found = {(code, line) for code in codes for line in lines_with(code, words)}
        code, line = found.pop() if len(found) == 1 else (code_of(kind), code_of(kind).co_firstlineno)
        return self.sites.site(code, line)


def code_of(kind):
    return attribute(getattr(kind, "forward", None), "__code__")


def lines_with(code, words):
    """Lines of a function that take one of these names from something."""
    line, found = code.co_firstlineno, set()
    starts = {offset: start for offset, start in dis.findlinestarts(code) if start is not None}
    for instruction in dis.get_instructions(code):
        line = starts.get(instruction.offset, line)
        if instruction.opname in ("LOAD_METHOD", "LOAD_ATTR") and instruction.argval in words:
            found.add(line)
    return found
