"""A signal handler of the program may raise between any two lines of the probe."""

import importlib
import signal
import sys
import unittest
from unittest import mock

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack

from tests.observe.reading import SHIM

sys.path.insert(0, str(SHIM))
guard = importlib.import_module("dlcheck_shim.torch_api.guard")
in_place = importlib.import_module("dlcheck_shim.torch_api.in_place")
wrapping = importlib.import_module("dlcheck_shim.torch_api.wrapping")


class Stopped(Exception):
    """What handlers of these tests raise."""


def give_up(number, frame):
    signal.signal(number, signal.SIG_DFL)
    raise Stopped


def give_up_any(*_):
    signal.signal(signal.SIGUSR1, signal.SIG_DFL)
    raise Stopped


def of_the_library(value):
    return value + 1


def another_of_the_library(value, count):
    if count:
        return another_of_the_library(value, count - 1)
    return value + 1


def another_beside(value):
    return value + 1


def grows(value, grow=None):
    if grow is not None:
        grow()
    return value


class Mode(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


def guard_and_reports():
    reports = []
    return guard.Guard(lambda *failure: reports.append(failure), lambda count: None), reports


class Raising(unittest.TestCase):
    def setUp(self):
        swallowing = mock.patch.object(guard, "RAISES", False)
        swallowing.start()
        self.addCleanup(swallowing.stop)

    def test_what_a_handler_raises_reaches_the_program_even_if_it_took_itself_out(self):
        for handler in (give_up, give_up_any, lambda number, frame: give_up(number, frame)):
            made, reports = guard_and_reports()
            signal.signal(signal.SIGUSR1, handler)
            with self.assertRaises(Stopped):
                made.isolated("family")(lambda: signal.raise_signal(signal.SIGUSR1))()
            self.assertEqual(reports, [])

    def test_an_error_of_the_probe_is_none_of_a_handler(self):
        def looks_below(frame):
            raise ValueError(frame.f_lineno)

        def takes(number, tensor):
            raise ValueError(number)

        made, reports = guard_and_reports()
        made.isolated("one")(lambda: looks_below(sys._getframe()))()
        made.isolated("two")(lambda: takes(1, torch.ones(2)))()
        self.assertEqual([family for family, _ in reports], ["one", "two"])

    def test_modes_that_were_being_put_aside_are_back(self):
        made, _ = guard_and_reports()
        with Mode() as first, Mode() as second:
            def lose_one():
                torch._C._pop_torch_dispatch_stack(None)
                give_up(signal.SIGUSR1, sys._getframe())

            with mock.patch.object(guard.private, "disable_dispatch_modes", lose_one):
                with self.assertRaises(Stopped):
                    made.isolated("family")(lambda: None)()
            self.assertEqual(_get_current_dispatch_mode_stack(), [first, second])

    def test_a_call_that_a_handler_ended_early_hides_no_later_one(self):
        for function, is_in_place in ((of_the_library, True), (another_beside, False)):
            with self.subTest(is_in_place=is_in_place):
                seen = []
                around = wrapping.followed_by(lambda result, *_: seen.append(result))
                if is_in_place:
                    self.assertIsNotNone(in_place.put_into(function, around))
                watched = function if is_in_place else around(function)
                around.before((1,), {})  # and a handler raises before the function goes on
                watched(1)
                watched(1)
                self.assertEqual(seen, [2, 2])

    def test_calls_that_a_function_makes_to_itself_are_passed_over(self):
        seen = []
        in_place.put_into(another_of_the_library, wrapping.preceded_by(lambda args, _: seen.append(args)))
        another_of_the_library(1, 3)
        self.assertEqual(seen, [(1, 3)])

    def test_a_call_under_way_keeps_its_own_token_where_another_hook_comes(self):
        told = []

        def hook(token):
            in_place.put_into(grows, wrapping.Around(lambda *_: token, lambda *call: told.append(call)))

        hook("one")
        grows(1, lambda: hook("two"))
        self.assertEqual(told, [("one", 1)])
        grows(2)
        self.assertEqual(told[1:], [("one", 2), ("two", 2)])


if __name__ == "__main__":
    unittest.main()
