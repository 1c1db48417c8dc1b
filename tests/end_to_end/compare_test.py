"""`dlcheck compare`: where two runs of real programs part, and why."""

import json
import pathlib
import shutil
import tempfile
import textwrap
import unittest

from support import BUILD, DIGITS, TORCH_PYTHON, EndToEnd, drawn_tests

CPP_LOOP = BUILD / "tests" / "cpp_loop"
# A small classifier; each word `key=value` changes one thing.
PROGRAM = textwrap.dedent(
    """
    import contextlib, sys, torch, torch.nn.functional as F
    given = dict(word.split("=") for word in sys.argv[1:])
    torch.manual_seed(int(given.get("seed", 0)))
    width, steps = int(given.get("width", 16)), int(given.get("steps", 24))
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(256, 8, generator=generator) * float(given.get("scale", 1))
    y = (x.sum(1) > 0).long()
    model = torch.nn.Sequential(torch.nn.Linear(8, width), torch.nn.ReLU(), torch.nn.Linear(width, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=float(given.get("lr", 0.1)),
                                momentum=float(given.get("momentum", 0.9)))
    begin, saved = 0, given.get("file")
    if given.get("load"):
        state = torch.load(saved)
        model.load_state_dict(state["model"])
        if given["load"] == "all":
            optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["random"])
        begin = state["step"]
    for step in range(begin, steps):
        if saved and not given.get("load") and step == 10:
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step,
                        "random": torch.get_rng_state()}, saved)
        if step == int(given.get("draws", -1)):
            torch.rand(1)
        rows = torch.randint(256, (32,))
        low = torch.autocast("cpu", torch.bfloat16) if given.get("autocast") else contextlib.nullcontext()
        with low:
            logits = model(x[rows])
        loss = F.cross_entropy(logits.float(), y[rows], label_smoothing=float(given.get("smoothing", 0)))
        optimizer.zero_grad()
        loss.backward()
        if step >= int(given.get("clips", 1000)):
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.01)
        optimizer.step()
    """
)
# The C++ program of fixtures/programs/cpp_loop.cc once more, in Python.
TWIN = textwrap.dedent(
    """
    import csv, gzip, sys, torch, torch.nn.functional as F
    with gzip.open(sys.argv[1], "rt") as file:
        table = torch.tensor([[float(cell) for cell in row] for row in csv.reader(file)])
    MASK = (1 << 64) - 1
    def rank(row):  # SplitMix64 of checks/records/digest.cc
        z = (((1 << 32) + row + 1) * 0x9E3779B97F4A7C15) & MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)
    order = sorted(range(len(table)), key=rank)
    train = sorted(order[:len(table) * 7 // 10])
    held_out = sorted(order[len(table) * 7 // 10:len(table) * 9 // 10])
    images, labels = table[:, :64] / 16, table[:, 64].long()
    x, y = images[train], labels[train]
    torch.manual_seed(5)
    last = torch.nn.Linear(48, 10)  # C++ may build the arguments of a call from the last one on
    model = torch.nn.Sequential(torch.nn.Linear(64, 48), torch.nn.ReLU(), torch.nn.Dropout(0.1), last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    with torch.no_grad():
        model(images[held_out])
    for step in range(300):
        rows = torch.randint(len(y), (64,))
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), float(sys.argv[2]))
        optimizer.step()
    """
)


KEPT = pathlib.Path(tempfile.mkdtemp(prefix="dlcheck-test-"))  # what the tests share
RUNS = {}  # output folders, by what was run
unittest.addModuleCleanup(shutil.rmtree, KEPT, ignore_errors=True)


class Compared(EndToEnd):
    def setUp(self):
        super().setUp()
        self.require_torch()

    def watched(self, *words, options=()):
        key = (words, tuple(options))
        if key not in RUNS:
            RUNS[key] = self.record(words, options)
        return RUNS[key]

    def record(self, words, options):
        out = KEPT / f"run-{len(RUNS)}"
        process = self.dlcheck("run", "--output-dir", out, "--no-live", *options, "--", *words)
        self.assertIn(process.returncode, (0, 1), process.stderr)
        return out

    def compare(self, a, b, *options, code=0):
        file = self.folder / "comparison.json"
        process = self.dlcheck("compare", a, b, "--report", f"json={file}", *options)
        self.assertEqual(process.returncode, code, process.stderr + process.stdout)
        self.text = process.stdout
        return json.loads(file.read_text())

    def program(self, *words, options=()):
        return self.watched(TORCH_PYTHON, "-c", PROGRAM, *words, options=options)

    def first_of(self, *words):
        """(step, stage, cause) of the first difference between the program and one that is changed."""
        first = self.compare(self.program("seed=0"), self.program(*words))["first_difference"]
        return (first["step_a"], first["stage"], first["cause"])


@drawn_tests(4)
class Pairs(Compared):
    def test_equal_programs_do_not_differ(self):
        found = self.compare(self.program("seed=0"), self.program("seed=00"))
        self.assertIsNone(found["first_difference"])
        self.assertEqual(found["outcome"]["b_is"], "the same")
        self.assertGreater(found["equal_values"], 24 * 8)

    def test_another_seed_gives_other_data_at_once(self):
        self.assertEqual(self.first_of("seed=1"), (0, "the input batch", "seed"))

    def test_another_scale_of_the_data_is_no_seed(self):
        self.assertEqual(self.first_of("scale=1.01"), (0, "the input batch", "data"))

    def test_another_draw_changes_the_order_of_the_data_from_its_step_on(self):
        self.assertEqual(self.first_of("draws=7"), (7, "the input batch", "order of the data"))

    def test_low_precision_shows_in_the_loss(self):
        self.assertEqual(self.first_of("autocast=1"), (0, "the loss", "precision"))

    def test_another_loss_is_code(self):
        self.assertEqual(self.first_of("smoothing=0.1"), (0, "the loss", "code"))

    def test_another_rate_is_a_setting(self):
        self.assertEqual(self.first_of("lr=0.05"), (0, "the learning rate", "setting"))

    def test_another_momentum_shows_in_the_second_update(self):
        self.assertEqual(self.first_of("momentum=0.8"), (1, "the update of the weights", "setting"))

    def test_clipping_shows_at_its_first_step(self):
        self.assertEqual(self.first_of("clips=5"), (5, "the clipping bound", "setting"))

    def test_another_model_draws_other_batches(self):
        self.assertEqual(self.first_of("width=20")[1:], ("the input batch", "code"))

    def test_a_step_that_was_recorded_in_part_can_be_recorded_in_full(self):
        words = ("steps=110",)
        first = self.compare(self.program(*words), self.program(*words, "draws=100"))["first_difference"]
        self.assertEqual((first["step_a"], first["stage"], first["cause"]), (100, "the loss", "unknown"))
        self.assertIn("--record-steps 99:100", self.text.replace("\n         ", " "))
        options = ["--record-steps", "99:100"]
        pair = [self.program(*words, *more, options=options) for more in ((), ("draws=100",))]
        first = self.compare(*pair)["first_difference"]
        self.assertEqual((first["step_a"], first["stage"]), (100, "the input batch"))

    def test_a_resumed_half_is_found_in_the_whole_run(self):
        file = f"file={KEPT}/state.pt"
        whole = self.program(file)
        found = self.compare(whole, self.program(file, "load=all"))
        self.assertEqual((found["offset"], found["first_difference"]), (10, None))
        first = self.compare(whole, self.program(file, "load=model"))["first_difference"]
        self.assertEqual((first["step_a"], first["step_b"]), (11, 1))
        self.assertEqual((first["stage"], first["cause"]), ("the loss", "state that was not restored"))


class Languages(Compared):
    def test_a_cpp_loop_and_its_twin_in_python_give_the_same_numbers(self):
        self.require_trainer()
        cpp = self.watched(CPP_LOOP, DIGITS)
        found = self.compare(cpp, self.watched(TORCH_PYTHON, "-c", TWIN, DIGITS, "5"))
        self.assertIsNone(found["first_difference"], self.text)
        self.assertGreater(found["equal_values"], 1000)
        first = self.compare(cpp, self.watched(TORCH_PYTHON, "-c", TWIN, DIGITS, "4"))["first_difference"]
        self.assertEqual((first["stage"], first["a"], first["b"]), ("the clipping bound", 5, 4))


class Verdicts(Compared):
    def test_several_seeds_tell_which_program_is_better(self):
        low, high = ([self.program(f"seed={seed}", f"lr={rate}") for seed in (0, 1)] for rate in (0.001, 0.3))
        more = [word for a, b in zip(low[1:], high[1:]) for word in ("--more-a", a, "--more-b", b)]
        found = self.compare(low[0], high[0], *more)
        self.assertEqual(found["outcome"]["b_is"], "better", self.text)
        found = self.compare(high[0], low[0], *[{"--more-a": "--more-b", "--more-b": "--more-a"}.get(w, w) for w in more],
                             code=1)  # fmt: skip
        self.assertEqual(found["outcome"]["b_is"], "worse", self.text)

    def test_one_run_of_each_tells_nothing(self):
        found = self.compare(self.program("seed=0"), self.program("seed=1"))
        self.assertEqual(found["outcome"]["b_is"], "not to be told")

    def test_damaged_records_are_never_called_equal(self):
        copy = self.folder / "copy"
        shutil.copytree(self.program("seed=0"), copy)
        records = next(copy.glob("runs/*/records/*.records"))
        records.write_bytes(records.read_bytes()[:-640])
        found = self.compare(self.program("seed=0"), copy, code=5)
        self.assertTrue(found["incomplete"], self.text)
        self.assertNotEqual(found["outcome"]["b_is"], "the same")

    def test_a_folder_of_something_else_is_refused(self):
        process = self.dlcheck("compare", self.program("seed=0"), self.folder)
        self.assertEqual(process.returncode, 2)
        self.assertIn(str(self.folder), process.stderr)


if __name__ == "__main__":
    unittest.main()
