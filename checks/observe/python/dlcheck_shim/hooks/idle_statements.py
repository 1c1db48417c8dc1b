"""Statements of the program's own lines that do nothing: a method that is named and not called, and a result
that nobody takes. Read from the source at the end of a run; no line is run again."""

from ..record.sites import OWN
from ..record.sites import kind_of as kind_of_file
from ..source.idle_statements import idle_statements
from ..source.trees import MOST_FILES, source_of
from ..state import walking
from ..torch_api.attributes import attribute


class IdleStatements:
    def __init__(self, recorder, sites):
        self.recorder, self.sites = recorder, sites
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.files = set()  # where the classes of models are written

    def subscribe(self, moments):
        moments.model_met.append(self.meet)

    def meet(self, root, model):
        for kind in {type(module) for module in walking.modules(root)}:
            code = attribute(vars(kind).get("forward"), "__code__", None)
            if code is not None and kind_of_file(code.co_filename) == OWN:
                self.files.add(code.co_filename)

    def write(self):
        """Of at most MOST_FILES files, in their order."""
        if self.recorder.request.experiment != "plain":
            return
        for path in sorted(self.files | self.sites.own_files())[:MOST_FILES]:
            for kind, words, line, function in idle_statements(source_of(path)):
                site = self.recorder.writer.site(path, line, function)
                thing = self.recorder.thing("statement", 0, words)
                self.recorder.quantity("idle_statement", thing, float(kind), site=site)
