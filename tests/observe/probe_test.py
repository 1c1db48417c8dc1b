"""The C++ probe in a program with a loop of its own; CPP_LOOP names the program."""

import os
import unittest

from tests.observe.reading import DIGITS, defined, run_unwatched, run_watched

PROGRAM = [os.environ.get("CPP_LOOP", ""), DIGITS]
# Clearing works, so nothing is held; and the loop saves and schedules nothing.
# Only where many ranks train, as in a program of its own and in the trainer's ranks.
NOT_OF_ONE = {"replica_digest", "buffer_digest", "drawn_masks", "own_time"}
NOT_IN_A_CLEAN_RUN = {"held_gradient_norm", *NOT_OF_ONE}
NOT_IN_THE_LOOP = {"saved", "loaded", "schedule", "scheduler", "quiet", "stopped", "uncleared",
                   "collective"}  # fmt: skip


@unittest.skipUnless(PROGRAM[0], "CPP_LOOP names no program: LibTorch was not found")
class ProbeInALoop(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.clean = run_watched(PROGRAM)
        cls.faulty = run_watched([*PROGRAM, "--fault", "gradients_not_cleared"])

    def test_training_is_the_same_to_the_bit(self):
        alone = run_unwatched([*PROGRAM, "--states"])
        watched = run_watched([*PROGRAM, "--states"])
        self.assertEqual((alone.status, alone.out.count("state ")), (0, 60))
        self.assertEqual((alone.status, alone.out), (watched.status, watched.out))
        self.assertGreater(len(watched.main.rows), 1000)

    def test_every_quantity_of_the_probe_is_recorded(self):
        found = {row.name for row in self.clean.main.rows if row.kind == "quantity"}
        self.assertEqual(defined("quantity.def", "C") - found, NOT_IN_A_CLEAN_RUN)
        held = self.faulty.main.of("quantity", "held_gradient_norm")
        self.assertGreater(len(held), 0)

    def test_every_event_of_the_probe_is_recorded(self):
        found = {row.name for row in self.clean.main.rows if row.kind != "quantity"}
        self.assertEqual(defined("event.def", "C") - found, NOT_IN_THE_LOOP)
        self.assertIn("uncleared", {row.name for row in self.faulty.main.rows})

    def test_gradients_that_stay_are_seen_on_the_gradients(self):
        main = self.faulty.main
        self.assertEqual(self.faulty.status, 1)
        consumed = {(r.thing, r.step): r.value for r in main.of("quantity", "gradient_norm")}
        held = [row for row in main.of("quantity", "held_gradient_norm") if row.step < 64]
        self.assertEqual(len(held), 4 * 63)
        for row in held:
            self.assertEqual(row.value, consumed[(row.thing, row.step - 1)])
        self.assertEqual({row.value for row in main.of("event", "uncleared")}, {4.0})
        self.assertFalse(self.clean.main.of("event", "uncleared"))

    def test_steps_backwards_and_modules_are_counted(self):
        main = self.clean.main
        for event in ("step", "backward", "used"):
            gaps = sum(row.value for row in main.of("gap", event))
            self.assertEqual(len(main.of("event", event)) + gaps, 300, event)
        modules = {row.thing for row in main.of("event", "forward")}
        # Those with parameters, and dropout, which has none.
        self.assertEqual(modules, {("module", "0", "0"), ("module", "0", "2"), ("module", "0", "3")})
        self.assertEqual({row.micro_step for row in main.of("quantity", "gradient_norm")}, {1})

    def test_places_are_lines_of_the_program(self):
        sites = {row.site[0].rsplit("/", 1)[-1] for row in self.clean.main.of("event", "step")[:9]}
        self.assertEqual(sites, {"cpp_loop.cc"})

    def test_an_experiment_ends_by_its_steps(self):
        run = run_watched(PROGRAM, experiment="same_seed", steps=60)
        self.assertEqual((run.status, run.out, run.main.rows[-1].name), (0, "", "stopped"))
        self.assertEqual(len(run.main.of("event", "step")), 60)
        plain = [row.value for row in self.clean.main.of("quantity", "loss")]
        self.assertEqual([row.value for row in run.main.of("quantity", "loss")], plain[:60])

    def test_an_experiment_that_the_program_cannot_be_is_refused(self):
        run = run_watched(PROGRAM, experiment="one_batch")
        self.assertEqual((run.status, run.main.rows), (0, []))
        self.assertEqual("C++ programs are not run in this way", run.main.process["refused"])


if __name__ == "__main__":
    unittest.main()
