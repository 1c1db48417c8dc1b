"""How long the parts of a sampled step took on the host: forward, backward, optimizer."""

from ..system import perf_counter


class PartTimes:
    def __init__(self):
        self.begun, self.seconds = {}, {}

    def begin(self, part):
        """`part`: the name of its quantity. One that raised and never ended begins anew."""
        self.begun[part] = perf_counter()

    def end(self, part):
        begin = self.begun.pop(part, None)
        if begin is not None:
            self.seconds[part] = self.seconds.get(part, 0.0) + perf_counter() - begin

    def take(self):
        """Seconds by part since the last call; a part that is under way goes on."""
        seconds, self.seconds = self.seconds, {}
        return seconds
