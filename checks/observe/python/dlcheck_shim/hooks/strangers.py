"""Modules that nobody trains, called without gradients: teachers, target networks, averages, feature extractors."""


class Strangers:
    def __init__(self, guard, recorder, evaluations, frozen, copies):
        self.recorder, self.evaluations, self.frozen, self.copies = recorder, evaluations, frozen, copies
        self.called, self.gives = guard.isolated("forward")(self.called), guard.isolated("forward")(self.gives)
        self.number = 0  # of the outermost one whose call is under way, in steps that are compared
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.number = 0

    def called(self, module):
        self.evaluations.enclose(module)
        if self.recorder.sampled and self.recorder.compares() and not self.number:
            self.number = id(module)
        if not module.training:
            self.copies.evaluated(module)
        elif self.recorder.sampled:
            self.frozen.called(module)

    def ended(self, module, output):
        if self.number == id(module):
            self.number = 0
            self.gives(output)

    def gives(self, output):
        self.recorder.moments.stranger_gave(output)
