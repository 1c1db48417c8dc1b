"""Tells of a program that made an optimizer and went over its data, and was given no batch to train on."""


class EmptyLoops:
    def __init__(self, guard, recorder, sites, loaders):
        self.recorder, self.sites, self.loaders = recorder, sites, loaders
        self.begins = guard.isolated("loop", asks_tensors=False)(self.begins)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.optimizers, self.site = 0, 0

    def subscribe(self, moments):
        moments.optimizer_made.append(self.made)
        moments.pass_begins.append(self.begins)

    def made(self, optimizer):
        self.optimizers += 1

    def begins(self):
        if self.optimizers and not self.site:
            self.site = self.sites.current(always=True)

    def write(self):
        """As the process ends, before its records are closed."""
        empty = self.loaders.begun - self.loaders.nonempty
        trained = self.recorder.step or self.recorder.micro_step
        if self.optimizers and self.site and not trained and empty and self.recorder.role() == "main":
            thing = self.recorder.thing("loader", 0, "loader")
            self.recorder.quantity("empty_passes", thing, float(empty), site=self.site)
