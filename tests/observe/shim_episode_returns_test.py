"""What a program takes for the return of an episode, and adds up over all of them, is read from its source."""

import sys
import textwrap
import unittest

from tests.observe.reading import ROOT

sys.path.insert(0, str(ROOT / "checks/observe/python"))
from dlcheck_shim.source.episode_returns import growing_returns  # noqa: E402
from dlcheck_shim.source.trees import tree_of  # noqa: E402

NESTED = """
    ep_reward, history = 0, []
    for episode in range(100):
        state, done = env.reset(), False
        while not done:
            state, reward, done, _ = env.step(policy(state))  # acts
            ep_reward += reward
        history.append(ep_reward)
"""
ENDLESS = """
    score, scores = 0, []
    for step in range(1000):
        state, reward, terminated, truncated, _ = env.step(choose(state))  # acts
        score += reward
        if terminated or truncated:
            scores.append(score)
            state, _ = env.reset()
    print(sum(scores[-10:]) / 10)
"""


def names(source):
    source = textwrap.dedent(source)
    acted = {number for number, line in enumerate(source.splitlines(), 1) if "# acts" in line}
    return [(name, line) for name, line, _ in growing_returns(tree_of(source.encode()), acted)]


class EpisodeReturns(unittest.TestCase):
    def test_a_sum_that_is_never_set_back_is_found_with_the_line_that_set_it(self):
        self.assertEqual(names(NESTED), [("ep_reward", 2)])
        self.assertEqual(names(ENDLESS), [("score", 2)])
        self.assertEqual(names(NESTED.replace("history.append(ep_reward)", 'writer.add_scalar("return", ep_reward, episode)')), [("ep_reward", 2)])

    def test_one_that_is_set_back_with_each_episode_is_none(self):
        self.assertEqual(names(NESTED.replace("state, done = env.reset(), False", "state, done, ep_reward = env.reset(), False, 0")), [])
        self.assertEqual(names(ENDLESS.replace("state, _ = env.reset()", "(state, _), score = env.reset(), 0")), [])

    def test_a_sum_over_all_episodes_may_be_wanted(self):
        for source, name in ((NESTED, "ep_reward"), (ENDLESS, "score")):
            with self.subTest(name):
                self.assertEqual(names(source.replace(name, "earned").replace("sum(earneds[-10:]) / 10", "earneds")), [])

    def test_one_that_a_mean_is_made_of_or_that_is_compared_with_what_it_was_is_none(self):
        for shown in ("ep_reward / (episode + 1)", "ep_reward - before"):
            with self.subTest(shown):
                self.assertEqual(names(NESTED.replace("append(ep_reward)", f"append({shown})")), [])

    def test_one_that_a_function_is_given_may_be_set_back_there(self):
        self.assertEqual(names(NESTED.replace("history.append(ep_reward)", "report(ep_reward)")), [])

    def test_a_loop_whose_steps_give_no_end_has_no_episodes(self):
        self.assertEqual(names(ENDLESS.replace("state, reward, terminated, truncated, _ =", "state, reward =")), [])

    def test_one_of_a_function_that_runs_one_episode_is_none(self):
        self.assertEqual(names(NESTED.replace("for episode in range(100):", "if True:")), [])


if __name__ == "__main__":
    unittest.main()
