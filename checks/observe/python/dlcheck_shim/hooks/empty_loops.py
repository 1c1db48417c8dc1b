"""Tells of a program that made an optimizer and went over its data, and was given no batch to train on."""


class EmptyLoops:
    def __init__(self, guard, recorder, sites, loaders):
        self.recorder, self.sites, self.loaders = recorder, sites, loaders
        self.begins = guard.isolated("loop", asks_tensors=False)(self.begins)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.optimizers, self.site, self.trains = 0, 0, False

    def subscribe(self, moments):
        moments.optimizer_made.append(self.made)
        moments.pass_begins.append(self.begins)
        moments.backward_ended.append(self.trained)
        moments.stepped.append(self.trained)

    def made(self, optimizer):
        self.optimizers += 1

    def trained(self):
        self.trains = True

    def begins(self):
        if self.optimizers and not self.site:
            self.site = self.sites.current(always=True)

    def write(self):
        """As the process ends, before its records are closed."""
        empty = self.loaders.begun - self.loaders.nonempty
        if self.optimizers and self.site and not self.trains and empty and self.recorder.role() == "main":
            thing = self.recorder.thing("loader", 0, "loader")
            self.recorder.quantity("empty_passes", thing, float(empty), site=self.site)
