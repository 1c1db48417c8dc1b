"""Tells of layers that a program meant to freeze by an attribute that torch does not read: requires_grad of a module, and
other spellings of it of a parameter.
"""

import ast
import difflib

from ..record.sampling import takes_digest
from ..state import walking
from ..torch_api import tensors
from ..torch_api.attributes import attribute
from .idle_statements import MOST_FILES, looked_through, short_tree_of

NAME, NEAR = "requires_grad", 0.8  # how alike two spellings are, as difflib has it


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
        """As the run ends, with the line that sets the attribute."""
        for (name, of_modules), numbers in self.found.items():
            place = next((found for path in sorted(self.sites.own_files())[:MOST_FILES] for found in lines_that_set(path, name)), None)
            site = self.recorder.writer.site(*place) if place is not None else 0
            thing = self.recorder.thing("attribute", 0, name)
            self.recorder.quantity("frozen_by_name", thing, float(len(numbers)), float(of_modules), site=site)


def count_trained(found, key, parameters):
    """By number: a parameter may be below several modules."""
    for parameter in parameters:
        if parameter.requires_grad and parameter.grad is not None:
            found.setdefault(key, set()).add(id(parameter))


def is_other_spelling(name):
    return type(name) is str and name != NAME and difflib.SequenceMatcher(None, name.lower(), NAME).ratio() >= NEAR


def lines_that_set(path, name):
    """[(path, line, function)] where an attribute of the name is set to False."""
    tree = short_tree_of(path)
    return [] if tree is None else looked_through(settings_of, tree, path, name)


def settings_of(tree, path, name):
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    lines = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
             and node.value.value is False and any(isinstance(target, ast.Attribute) and target.attr == name for target in node.targets)]  # fmt: skip
    around = {line: [each.name for each in functions if each.lineno <= line <= each.end_lineno] for line in lines}
    return [(path, line, around[line][-1] if around[line] else "<module>") for line in sorted(lines)]
