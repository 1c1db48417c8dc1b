"""Faults to plant: what a policy learns from, and what its returns hold."""

from planting import add

add(
    "other_actions_learned",
    "training_loop/wrong_first_ratio",
    folder="healthy",
    clipped_ratio=[("get_action_and_value(s[i], a[i])", "get_action_and_value(s[i])"), ("assert sum(scores[-3:]) / 3 > scores[0] + 0.2\n", "")],
    over_the_bridge=[("ratio = torch.exp(chosen(actor(seen(where)), move) - old)",
                      "scores = actor(seen(where))\n        ratio = torch.exp(chosen(scores, torch.multinomial(scores.softmax(-1).flatten(0, 1), 1).view_as(move)) - old)"),
                     ("assert gains[-1] > gains[0] + 0.5, gains\n", "")],
)  # fmt: skip
add(
    "old_rows_turned_around",
    "training_loop/wrong_first_ratio",
    folder="healthy",
    clipped_ratio=[("(new - lp[i]).exp()", "(new - lp.view(HORIZON, ENVS).T.flatten()[i]).exp()"), ("assert sum(scores[-3:]) / 3 > scores[0] + 0.2\n", "")],
    over_the_bridge=[("move) - old)", "move) - old.flip(0))"), ("assert gains[-1] > gains[0] + 0.5, gains\n", "")],
)  # fmt: skip
add(
    "drawn_again_to_learn",
    "training_loop/unkept_actions",
    folder="healthy",
    policy_gradient=[("m.log_prob(action)", "m.log_prob(m.sample())"), ("assert sum(lengths[-40:]) / 40 > sum(lengths[:20]) / 20 + 10\n", "")],
    actor_critic=[("choice.log_prob(action)", "choice.log_prob(choice.sample())")],
)  # fmt: skip
add(
    "returns_over_the_end",
    "training_loop/returns_across_episodes",
    folder="healthy",
    clipped_ratio=[("0.95 * 0.95 * (1 - d[t]) * run", "0.95 * 0.95 * run"), ("assert sum(scores[-3:]) / 3 > scores[0] + 0.2\n", "")],
    over_the_bridge=[(" * (1 - ended[t])", ""), ("assert gains[-1] > gains[0] + 0.5, gains\n", "")],
)  # fmt: skip
add(
    "rewards_of_all_episodes",
    "evaluation/metric_not_reset",
    folder="healthy",
    one_long_walk=[("here, score = field.new_game(), 0.0\n        if", "here = field.new_game()\n        if"),
                   ("assert sum(scores[-20:]) / 20 > sum(scores[:20]) / 20 + 0.3\n", "")],
    policy_gradient=[("state, ep_reward, done = env.reset(), 0, False", "state, done = env.reset(), False")],
)  # fmt: skip
