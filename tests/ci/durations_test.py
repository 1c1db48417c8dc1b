"""A test that takes twice its time is named; a slow machine is not its fault."""

import unittest

from loading import script

durations = script("durations.py")
LEDGER = {"a": 50.0, "b": 60.0, "c": 70.0, "short": 0.1}


class Durations(unittest.TestCase):
    def test_one_that_takes_more_than_twice_its_time_is_named(self):
        self.assertEqual(durations.doubled(LEDGER | {"b": 155.0}, LEDGER), [("b", 155.0, 60.0)])

    def test_one_that_takes_a_little_less_is_not(self):
        self.assertEqual(durations.doubled(LEDGER | {"b": 149.0, "short": 29.0}, LEDGER), [])

    def test_on_a_machine_of_a_third_of_the_speed_none_is(self):
        slow = {name: 3 * taken for name, taken in LEDGER.items()}
        self.assertEqual(durations.doubled(slow, LEDGER), [])
        self.assertEqual([name for name, *_ in durations.doubled(slow | {"a": 500.0}, LEDGER)], ["a"])

    def test_one_that_draws_its_cases_may_take_four_times_as_long(self):
        ledger = LEDGER | {"odd_programs_test": 100.0}
        self.assertEqual(durations.doubled(ledger | {"odd_programs_test": 420.0}, ledger), [])
        self.assertEqual(len(durations.doubled(ledger | {"odd_programs_test": 450.0}, ledger)), 1)

    def test_one_that_the_ledger_does_not_know_is_passed_over(self):
        self.assertEqual(durations.doubled(LEDGER | {"new": 1000.0}, LEDGER), [])


if __name__ == "__main__":
    unittest.main()
