"""Tells of a classifier that a program trains to the end without a single evaluation of it."""

from ..state.loss_calls import has_one_class_each

FEWEST_STEPS = 100


class NoEvaluation:
    def __init__(self, guard, recorder, evaluations, forwards):
        self.recorder, self.evaluations, self.forwards = recorder, evaluations, forwards
        self.look = guard.isolated("loss", asks_tensors=False)(self.look)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.classifies, self.backwards = 0, 0  # thing of the loss
        self.before = self.forwards.begun

    def subscribe(self, moments):
        moments.loss_examined.append(self.look)
        moments.sampled_backward_ended.append(self.count)

    def look(self, call):
        """Square scores may be those of pairs."""
        if not self.classifies and has_one_class_each(call) and call.output.shape[0] != call.output.shape[1]:
            self.classifies = call.thing

    def count(self):
        """Forwards are seen in sampled steps alone."""
        self.backwards += 1

    def write(self):
        """As the run ends."""
        if not self.classifies or self.recorder.step < FEWEST_STEPS or self.recorder.role() != "main":
            return
        # A forward that no backward followed, and one of another module without gradients, may be an evaluation.
        followed = self.forwards.begun - self.before <= self.backwards
        evaluations = self.evaluations
        if followed and evaluations.seen == 0 and not evaluations.any_loose and not evaluations.any_enclosed:
            self.recorder.quantity("no_evaluation", self.classifies, float(self.recorder.step))
