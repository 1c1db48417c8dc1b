"""After a watched part of a process, its libraries are what they were: the same objects with the same code."""

import json
import pathlib
import tempfile
import unittest

from tests.observe.reading import SHIM, python, run_unwatched

PROGRAM = """
import json, sys, types
import torch, torch.nn as nn, torch.distributed, torch.export, torch.utils.data
sys.path.insert(0, sys.argv[1])
import dlcheck_shim

HOOKS = ("_global_optimizer_pre_hooks", "_global_optimizer_post_hooks")

def train():
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(), nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    loader = torch.utils.data.DataLoader(
        [(torch.ones(4), 0), (torch.zeros(4), 1)] * 4, batch_size=2, shuffle=True)
    for inputs, targets in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), targets).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step(); schedule.step()

def own(value):
    parts = (value.fget, value.fset) if isinstance(value, property) else (value,)
    if isinstance(value, (staticmethod, classmethod)):
        parts = (value.__func__,)
    return [id(value), *(id(part.__code__) for part in parts if isinstance(part, types.FunctionType))]

def libraries():
    found = {}
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] not in ("torch", "os", "random") or not isinstance(module, types.ModuleType):
            continue
        for key, value in list(vars(module).items()):
            if key.startswith("__dlcheck_"):
                continue  # what a call under way would look up; nothing else has these names
            found[f"{name}.{key}"] = own(value)
            if isinstance(value, type):
                for member, inner in list(vars(value).items()):
                    found[f"{name}.{key}.{member}"] = own(inner)
    for table in HOOKS:
        found[table] = list(getattr(sys.modules["torch.optim.optimizer"], table))
    return found

train()
before = libraries()
inside = []
for round in range(int(sys.argv[3])):
    dlcheck_shim.begin(sys.argv[2])
    inside.append(sum(before.get(k) != v for k, v in libraries().items()))
    train()
    dlcheck_shim.end()
after = libraries()
COUNTER = "RemovableHandle.next_id"  # how many hooks were ever registered
changed = sorted(k for k in before.keys() | after.keys()
                 if before.get(k) != after.get(k) and not k.endswith(COUNTER))
train()
print(json.dumps({"changed": changed, "inside": inside}))
"""


class TakenOut(unittest.TestCase):
    def after_rounds(self, rounds):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "request").write_text(f"run_folder\t{folder}\nshim\t{SHIM}\n")
            program = folder / "program.py"
            program.write_text(PROGRAM)
            run = run_unwatched(python(program, SHIM, folder, rounds),
                                {"DLCHECK_SHIM_RAISE": "1"}, fresh=True)  # fmt: skip
            self.assertEqual(run.status, 0, run.err)
            records = [path for path in folder.glob("records/*.records") if path.stat().st_size > 1000]
            return json.loads(run.out.splitlines()[-1]), records

    def test_nothing_of_a_library_is_changed_after_a_watched_part(self):
        found, records = self.after_rounds(1)
        self.assertEqual(found["changed"], [])
        self.assertGreater(found["inside"][0], 50)  # the libraries were changed in between
        self.assertEqual(len(records), 1)

    def test_a_second_part_is_watched_like_the_first(self):
        found, records = self.after_rounds(2)
        self.assertEqual(found["changed"], [])
        self.assertEqual(found["inside"][0], found["inside"][1])


if __name__ == "__main__":
    unittest.main()
