"""Tells of layers that a program meant to freeze by an attribute that torch does not read: requires_grad of a module, and
other spellings of it of a parameter.
"""

import difflib

from ..record.sampling import takes_digest
from ..source.settings import settings_of
from ..source.trees import MOST_FILES, looked_through, short_tree_of
from ..state import walking
from ..torch_api import tensors
from ..torch_api.attributes import attribute

NAME, NEAR = "requires_grad", 0.9  # how alike two spellings are, as difflib has it
OTHERS = {"requires_gradient", "requires_gradients", "require_gradient", "require_gradients"}


class FrozenByName:
    def __init__(self, guard, recorder, sites, models):
        self.recorder, self.sites, self.models = recorder, sites, models
        self.look, self.write = guard.isolated("frozen")(self.look), guard.isolated("frozen")(self.write)
        self.reset()
        recorder.moments.begins_anew.append(self.reset)

    def reset(self):
        self.found = {}  # by name of the attribute, and whether modules have it: how many parameters train all the same

    def subscribe(self, moments):
        moments.sampled_stepped.append(lambda: takes_digest(self.recorder.step) and tensors.may_compute() and self.look())
        moments.run_ends.append(lambda: self.found and self.write())

    def look(self):
        for root, model in list(self.models.roots.items()):
            if not model.trained:
                continue
            found = {}
            for module in walking.modules(root):
                if attribute(module, "__dict__", {}).get(NAME) is False:
                    count_trained(found, (NAME, True), walking.parameters(module))
            for parameter in walking.parameters(root):
                for name, value in attribute(parameter, "__dict__", {}).items():
                    if value is False and is_other_spelling(name):
                        count_trained(found, (name, False), [parameter])
            self.found.update(found)

    def write(self):
        """As the run ends, with the line that sets the attribute; not what an object sets of itself, or what the program
        reads: it is an attribute of its own."""
        for (name, of_modules), numbers in self.found.items():
            found = [places_of(path, name) for path in sorted(self.sites.own_files())[:MOST_FILES]]
            lines = [place for setting, _ in found for place in setting]
            if not lines or not of_modules and any(reads for _, reads in found):
                continue
            thing = self.recorder.thing("attribute", 0, name)
            self.recorder.quantity("frozen_by_name", thing, float(len(numbers)), float(of_modules), site=self.recorder.writer.site(*lines[0]))


def count_trained(found, key, parameters):
    """By number: a parameter may be below several modules."""
    for parameter in parameters:
        if parameter.requires_grad and parameter.grad is not None:
            found.setdefault(key, set()).add(id(parameter))


def is_other_spelling(name):
    if type(name) is not str or name == NAME:
        return False
    return name.lower() in OTHERS or difflib.SequenceMatcher(None, name.lower(), NAME).ratio() >= NEAR


def places_of(path, name):
    """[(path, line, function)] where an attribute of the name is set to False from outside, and whether it is read."""
    tree = short_tree_of(path)
    return ([], False) if tree is None else looked_through(settings_of, tree, path, name) or ([], False)
