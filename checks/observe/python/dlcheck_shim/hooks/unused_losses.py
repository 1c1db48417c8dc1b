"""Counts the losses that a line of the program computes for a step, and those among them that a backward call
reaches: an indented `loss.backward()` too little trains on the last task or micro-batch alone."""

from ..autograd.loss_graph import mark, mark_of

ORDER = "dlcheck order"
MOST_NODES = 512  # between what a backward starts from and its losses


class UnusedLosses:
    def __init__(self, guard, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.reached_by = guard.isolated("loss", asks_tensors=False)(self.reached_by)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.lines = []  # of the losses of this step, in their order
        self.reached, self.known = set(), True

    def subscribe(self, moments):
        moments.loss_computed.append(self.add)
        moments.step_ends.append(self.end_step)
        moments.sampled_stepped.append(self.reset)

    def add(self, result):
        if self.recorder.detailed and result.grad_fn is not None:
            mark(result.grad_fn, ORDER, (self.recorder.step, len(self.lines)))
            self.lines.append(self.sites.current())

    def reached_by(self, loss):
        """Before a backward from `loss`."""
        waiting, met = [loss.grad_fn], set()
        while waiting and self.lines:
            node = waiting.pop()
            if node is None or node in met:
                continue
            if len(met) == MOST_NODES:
                self.known = False
                return
            met.add(node)
            step, order = mark_of(node, ORDER) or (-1, 0)
            if step == self.recorder.step:
                self.reached.add(order)
            else:
                waiting += [before for before, _ in node.next_functions]

    def end_step(self, owner):
        for line in set(self.lines) if self.known else ():
            made = [order for order, other in enumerate(self.lines) if other == line]
            used = [order for order in made if order in self.reached]
            unused = len(made) - 1 if used == made[-1:] else 0
            thing = self.recorder.thing("loss", 0, "losses")
            self.recorder.quantity("unused_losses", thing, float(unused), float(len(made)), line, owner)
