"""What becomes of ranks when the network between them fails: they go on, or each says in one line
whom it has lost and why, and ends.

Ends with the table of faults.
"""

import os
import signal
import subprocess
import time
import unittest

from rank_link import RANKS, STORE, Link
from rank_runs import LONG, LOST, TROUBLE, RankTest, free_port, print_rows
from support import drawn_tests

SHORT = ("--steps", 4)
SLOW = ("--steps", LONG, "--heartbeat-timeout", 3, "--collective-timeout", 3)
BOTH = (STORE, RANKS)
CANNOT_BE_REACHED = "is stopped or cannot be reached: no sign of life for "


def tearDownModule():
    print_rows()


@drawn_tests(5)
class Network(RankTest):
    def start_linked(self, world, *flags, **faults):
        """Ranks that reach each other by a proxy alone, which is returned."""
        link = Link(free_port())
        self.addCleanup(link.close)
        self.change(link, faults)
        # Before it is closed, which waits for nobody.
        self.addCleanup(self.end_all)
        variables = {"LD_PRELOAD": TROUBLE, "RANK_LINK": link.port}
        self.start_ranks(world, *flags, port=link.store,
                         of_rank=dict.fromkeys(range(world), variables))
        return link

    @staticmethod
    def change(link, faults):
        for name, value in faults.items():
            setattr(link, name, value)

    def trained_under(self, fault, world, **faults):
        """How ranks end to which these faults come while they train; the run before goes on."""
        self.started.clear()
        self.log.unlink(missing_ok=True)
        link = self.start_linked(world, *SLOW, *(["--resume"] if self.checkpoints.exists() else []))
        self.await_step(15)
        self.assertGreater(min(link.carried.values()), 0, "nothing goes by the proxy")
        self.change(link, faults)
        ended = self.finish(30)
        self.assertEqual(ended.statuses, [LOST] * world, ended.said)
        for rank, error in enumerate(ended.errors):
            self.assert_one_line(error, f"dlcheck-train: rank {rank}: rank ")
        self.row("G11", fault, ended, ended.errors[0])
        return ended.errors

    # G11

    def test_a_slow_or_lossy_link_ends_no_run(self):
        link = self.start_linked(2, *SLOW)
        self.await_step(15)
        begin = time.monotonic()
        self.change(link, {"delay": 0.1})
        self.await_step(self.step() + 2)
        self.change(link, {"delay": 0.0, "lost": 0.2})
        self.await_step(self.step() + 4)
        for process in self.started:
            process.terminate()
        ended = self.finish(30)
        self.assertEqual((ended.statuses, ended.said), ([-signal.SIGTERM] * 2, ""))
        ended.seconds = time.monotonic() - begin
        for fault in ("all takes 0.1 s, to and fro", "a fifth of what is sent is lost once"):
            self.row("G11", fault, ended, "none: the run goes on")
        self.assert_resumes(2)

    def test_a_link_that_breaks_or_swallows_ends_all_ranks(self):
        broken = "rank 0 is gone or cannot be reached: the connection to .* broke, last seen at "
        # Whoever notices first speaks for the others if they have not spoken yet.
        out_of_touch = "rank (0, 1|[01]) lost touch with the others at step "
        lost = [f"rank {other} {CANNOT_BE_REACHED}" for other in (1, 0)]
        # What comes, and what each rank says.
        faults = {
            "the connections of gradients are reset in a message":
                ({"resets": (RANKS,)}, [f"{out_of_touch}.*Connection "] * 2),
            # Rank 1 ends at once, which rank 0 may see before it misses signs of life.
            "the connection of signs of life is reset":
                ({"resets": (STORE,)}, [f"{lost[0]}|rank 1 is gone: no sign of life", broken]),
            "nothing of the gradients arrives":
                ({"swallows": (RANKS,), "swallows_back": (RANKS,)},
                 [f"{out_of_touch}.*(Timed out|timeout)"] * 2),
            "nothing arrives that rank 0 answers rank 1": ({"swallows_back": BOTH}, lost),
        }
        for fault, (changes, lines) in faults.items():
            with self.subTest(fault=fault):
                errors = self.trained_under(fault, 2, **changes)
                for error, line in zip(errors, lines):
                    self.assertRegex(error, line)
        self.assert_resumes(2)

    def test_a_rank_whose_link_is_dead_is_named_by_all_others(self):
        errors = self.trained_under("nothing that rank 2 of 3 says arrives, or is answered", 3,
                                    swallows=BOTH, swallows_back=BOTH, from_ranks=2)
        for error, lost in zip(errors, (2, 2, 0)):
            self.assertIn(f"rank {lost} {CANNOT_BE_REACHED}", error)
        self.assert_resumes(3)

    def test_a_link_that_dies_while_the_ranks_meet_ends_all(self):
        self.start_linked(2, *SHORT, "--rendezvous-timeout", 2, swallows=(STORE,), swallows_back=(STORE,),
                          await_text=b"roll/came")
        ended = self.finish(15)
        self.assertEqual(ended.statuses, [LOST] * 2, ended.said)
        self.assert_one_line(ended.errors[0], "rank 1 did not come within rendezvous-timeout")
        line = self.assert_one_line(ended.errors[1], "rank 0 is stopped or cannot be reached: ",
                                    "answers no more")
        self.row("G11", "nothing arrives any more while two ranks meet (rank 1)", ended, line)

    def test_a_link_that_dies_as_a_rank_leaves_ends_all(self):
        self.start_linked(2, *SHORT, "--heartbeat-timeout", 3, swallows=(STORE,),
                          swallows_back=(STORE,), await_text=b" d ")
        ended = self.finish(15)
        self.assertEqual(ended.statuses, [LOST] * 2, ended.said)
        for rank, error in enumerate(ended.errors):
            self.assert_one_line(error, f"rank {rank}: rank {1 - rank} {CANNOT_BE_REACHED}")
        self.row("G11", "nothing arrives any more as rank 1 of 2 leaves", ended, ended.errors[0])
        self.started.clear()
        self.start_supervised(2, *SHORT, "--resume")
        self.assertEqual(self.finish(30).statuses, [0])

    def test_a_link_that_goes_down_ends_all_ranks(self):
        if os.geteuid() != 0:
            self.skipTest("a network namespace of its own needs root")
        made = subprocess.run(["unshare", "--net", "ip", "link", "set", "lo", "up"],
                              capture_output=True, text=True, check=False)
        if made.returncode != 0:
            self.skipTest(f"no network namespace can be made: {made.stderr.strip()}")
        script = 'ip link set lo up; "$@" & wait $!'
        self.start(["unshare", "--net", "sh", "-c", script, "sh",
                    *self.command(*SLOW, "--nproc", "2", "--collective-timeout", "5")])
        self.await_step(15)
        inside = str(self.process_of(1))
        subprocess.run(["nsenter", "--net", "--target", inside, "ip", "link", "set", "lo", "down"],
                       check=True)
        ended = self.finish(25)
        self.assertEqual(ended.statuses, [LOST], ended.said)
        self.assertIn("rank 0 is stopped or cannot be reached", ended.said)
        self.assertLessEqual(ended.said.count("\n"), 3, ended.said)
        self.row("G11", "the loopback goes down", ended, ended.said.splitlines()[0])
        self.assert_resumes(2)

    # G14

    def test_a_name_that_leads_nowhere_is_named(self):
        self.start_ranks(2, *SHORT, "--rendezvous-timeout", 3, address="none.invalid", ranks=[1])
        ended = self.finish(15)
        self.assertEqual(ended.statuses, [LOST])
        self.assert_one_line(ended.errors[0], "at none.invalid:", "the name leads to no machine")
        self.row("G14", "MASTER_ADDR cannot be resolved", ended, ended.errors[0])

    def test_an_interface_that_is_not_there_is_named_and_the_rank_that_was_told_of_it(self):
        self.start_ranks(2, *SHORT, of_rank={1: {"GLOO_SOCKET_IFNAME": "nosuch0"}})
        ended = self.finish(15)
        self.assertEqual(ended.statuses, [LOST, 1], ended.said)
        self.assert_one_line(ended.errors[0], "rank 1 failed at step 0: ")
        for error in ended.errors:
            self.assert_one_line(error, "Unable to find address for: nosuch0")
        self.row("G14", "rank 1 of 2 is told of no interface", ended, ended.errors[0])

    def test_a_machine_without_loopback_is_told_so(self):
        made = subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False)
        if made.returncode != 0:
            self.skipTest("no network namespace can be made: that needs root")
        self.start(["unshare", "--net", *self.command(*SHORT, "--nproc", "2", "--rendezvous-timeout", "3")])
        ended = self.finish(15)
        self.assertNotEqual(ended.statuses, [0])
        self.assertIn("cannot meet at 127.0.0.1:", ended.said)
        self.assertIn("Network is unreachable", ended.said)
        self.assertLessEqual(ended.said.count("\n"), 3, ended.said)
        self.row("G14", "no loopback", ended, ended.said.splitlines()[0])


if __name__ == "__main__":
    unittest.main()
