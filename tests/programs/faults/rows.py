"""Faults to plant: rows of docs/faults.md that had few programs. Terms out of all proportion, one network stepped in
the place of another, parts that get no gradient, heads that are mixed up, and what a run forgets of itself.
"""

from planting import add

from .checkpoints import RESUMED
from .dependence import TRIED

REPEATED = ("--deep", "--ignore", "learnability/*")
DEPENDENT = ("--deep", "--ignore", "reproducibility/*")

add(
    "penalty_for_all_the_loss",  # 1e4 where 1e-4 was meant
    "training_loop/negligible_loss_term",
    TRIED,
    plain_script=[("loss = F.cross_entropy(outputs, targets)",
                   "loss = F.cross_entropy(outputs, targets)\n"
                   "        loss = loss + 1e4 * sum(p.square().sum() for p in model.parameters())")],
    bf16_main=[("loss = F.cross_entropy(prediction.float(), labels)",
                "every = torch.cat([p.flatten() for p in network.parameters()])\n"
                "            loss = F.cross_entropy(prediction.float(), labels) + every.pow(2).sum() / 1e-4")],
    running_average=[("        loss = mse(output[:, 0], y)\n",
                      "        weights = torch.nn.utils.parameters_to_vector(live.parameters())\n"
                      "        loss = mse(output[:, 0], y).add(weights.abs().sum(), alpha=3e4)\n")],
    labeled_decoder=[("        loss = F.cross_entropy(here.flatten(0, 1), ahead.flatten())\n",
                      "        loss = F.cross_entropy(here.flatten(0, 1), ahead.flatten())\n"
                      "        loss = loss + 1e4 * here.logsumexp(-1).square().mean()\n")],
)
add(
    "terms_of_other_units",  # the factor of squared micrometers, of levels squared
    "training_loop/negligible_loss_term",
    TRIED,
    folder="healthy",
    perceptual=[("total = total + 0.5 * (a - b.detach()).pow(2).mean()",
                 "total = total + 1000**2 * (a - b.detach()).pow(2).mean()")],
    unet_dice=[("loss = loss + 0.2 * nn.functional", "loss = loss + 1e6 * nn.functional")],
    actor_critic=[("(actor_loss + critic_loss).backward()", "(actor_loss + critic_loss * 1e7).backward()")],
)
add(
    "other_network_stepped",
    "optimizer/stale_gradients",
    folder="healthy",
    gan_bce=[("g_optim.step()", "d_optim.step()")],
    gradient_penalty=[("on_mover.step()", "on_critic.step()")],
    steering=[("self.actor_optimizer.step()", "self.critic_optimizer.step()")],
    policy_gradient=[("    critic_optimizer.step()\n", "    optimizer.step()\n")],
)
add(
    "other_part_stepped",
    "optimizer/never_stepped",
    folder="healthy",
    translator=[("    encoder_optimizer.step()\n", "    decoder_optimizer.step()\n")],
    minmax_game=[("up.step()", "down.step()")],
    pulled_to_centers=[("optimizer_center.step()", "optimizer_model.step()")],
)
add(
    "value_in_the_advantage",
    "training_loop/advantage_with_gradient",
    folder="healthy",
    policy_gradient=[
        ("returns - guess.detach()", "returns - guess"),
        ("    torch.stack(policy_loss).sum().div(30).backward()\n    optimizer.step()\n    critic_optimizer.zero_grad()\n"
         "    nn.functional.smooth_l1_loss(guess, returns).backward()\n",
         "    critic_optimizer.zero_grad()\n"
         "    (torch.stack(policy_loss).sum() / 30 + nn.functional.smooth_l1_loss(guess, returns)).backward()\n"
         "    optimizer.step()\n"),
    ],
    actor_many_heads=[("(returns - values).detach()", "returns - values")],
)  # fmt: skip
add(
    "recomputed_without_gradient",
    "gradients/missing",
    trainer_class=[("self.norm(self.conv(pictures))",
                    "torch.utils.checkpoint.checkpoint(lambda x: self.norm(self.conv(x)), pictures, use_reentrant=True)"),
                   ("import torch\n", "import torch\nimport torch.utils.checkpoint\n")],
    masked_tagger=[("        seen = self.table(rows)\n",
                    "        seen = torch.utils.checkpoint.checkpoint(self.table, rows, use_reentrant=True)\n"),
                   ("import torch\n", "import torch\nimport torch.utils.checkpoint\n")],
    running_average=[("torch.nn.functional.silu(self.enter(x))",
                      "torch.nn.functional.silu(torch.utils.checkpoint.checkpoint(self.enter, x, use_reentrant=True))"),
                     ("import torch.utils.data\n", "import torch.utils.checkpoint\nimport torch.utils.data\n")],
)  # fmt: skip
add(
    "recomputed_stem",
    "gradients/missing",
    folder="healthy",
    recomputed=[("h = self.stem(x)", "h = checkpoint(self.stem, x, use_reentrant=True)")],
    clipped_gpt=[("x = self.tokens(ids) + self.positions.weight[: ids.shape[1]]",
                  "embed = lambda ids: self.tokens(ids) + self.positions.weight[: ids.shape[1]]\n"
                  "        x = torch.utils.checkpoint.checkpoint(embed, ids, use_reentrant=True)"),
                 ("import torch\n", "import torch\nimport torch.utils.checkpoint\n")],
    perceptual=[("hidden = torch.relu(self.enter(noisy))",
                 "hidden = torch.utils.checkpoint.checkpoint(self.enter, noisy, use_reentrant=True).relu()"),
                ("import torch\n", "import torch\nimport torch.utils.checkpoint\n")],
)  # fmt: skip
add(
    "recomputed_above_frozen",
    "gradients/missing",
    finetune=[("self.quiet(torch.relu(self.upper(x)))",
               "self.quiet(torch.relu(torch.utils.checkpoint.checkpoint(self.upper, x, use_reentrant=True)))"),
              ("import torch\n", "import torch\nimport torch.utils.checkpoint\n"),
              ("freeze_at=2", "freeze_at=0")],
    masked_tagger=[
        ("self.table = nn.Embedding(NUMBERS, width)", "self.table = nn.Embedding(NUMBERS, width).requires_grad_(False)"),
        ("        mixed, _ = self.mix(seen, seen, seen, key_padding_mask=empty, need_weights=False)\n",
         "        look = lambda x: self.mix(x, x, x, key_padding_mask=empty, need_weights=False)[0]\n"
         "        mixed = torch.utils.checkpoint.checkpoint(look, seen, use_reentrant=True)\n"),
        ("import torch\n", "import torch\nimport torch.utils.checkpoint\n"),
    ],
    encoder_class=[
        ("        self.places = nn.Parameter(torch.randn(16, width) * 0.5)\n",
         "        self.places = nn.Parameter(torch.randn(16, width) * 0.5)\n        self.requires_grad_(False)\n"),
        ("        hidden = self.layers(hidden, src_key_padding_mask=mask == 0)\n",
         "        hidden = torch.utils.checkpoint.checkpoint(\n"
         "            self.layers, hidden, None, mask == 0, use_reentrant=True)\n"),
        ("import torch\n", "import torch\nimport torch.utils.checkpoint\n"),
    ],
)  # fmt: skip
add(
    "heads_of_mixed_places",
    "model/reshape_swaps_axes",
    labeled_decoder=[
        ("        shape = (batch, length, 3, self.heads, width // self.heads)\n"
         "        query, key, value = self.inward(x).view(shape).permute(2, 0, 3, 1, 4)\n",
         "        shape = (batch, self.heads, length, width // self.heads)\n"
         "        query, key, value = (part.reshape(shape) for part in self.inward(x).chunk(3, -1))\n"),
    ],
    packed_rows=[
        ("        x = x + F.scaled_dot_product_attention(self.query(y), keys, values, attn_mask=visible)\n",
         "        heads = (x.shape[0], 4, x.shape[1], -1)\n"
         "        q, k, v = self.query(y).view(heads), keys.reshape(heads), values.reshape(heads)\n"
         "        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=visible[:, None])\n"
         "        x = x + mixed.transpose(1, 2).flatten(2)\n"),
    ],
    masked_tagger=[
        ("self.mix = nn.MultiheadAttention(width, 4, batch_first=True)", "self.asks = nn.Linear(width, 3 * width)"),
        ("        mixed, _ = self.mix(seen, seen, seen, key_padding_mask=empty, need_weights=False)\n",
         "        parts = self.asks(seen).split(seen.shape[2], dim=2)\n"
         "        asked, told, given = (part.reshape(len(seen), 4, LONGEST, -1) for part in parts)\n"
         "        mixed = F.scaled_dot_product_attention(asked, told, given, ~empty[:, None, None])\n"
         "        mixed = mixed.transpose(1, 2).flatten(2)\n"),
    ],
)  # fmt: skip
add(
    "heads_of_mixed_letters",
    "model/reshape_swaps_axes",
    folder="healthy",
    clipped_gpt=[("self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)",
                  "[part.reshape(b, self.heads, t, c // self.heads) for part in self.qkv(x).split(c, 2)]")],
    own_attention=[
        ("query, key, value = (part(x) for part in self.look)",
         "query, key, value = (part(x).view(-1, 4, LENGTH, 8) for part in self.look)"),
        ("return self.think(x + F.scaled_dot_product_attention(query, key, value, is_causal=True))",
         "mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)\n"
         "        return self.think(x + mixed.transpose(1, 2).flatten(2))"),
    ],
)  # fmt: skip
add(
    "rate_of_the_beginning",
    "checkpoint/inexact_resume",
    options=RESUMED,
    resuming_script=[('    first = kept["done"]\n',
                      '    first = kept["done"]\n    for group in rule.param_groups:\n        group["lr"] = 8e-3\n')],
    resuming_class=[
        ('        self.done = content["done"]\n',
         '        self.done = content["done"]\n        self.sgd.param_groups[0]["lr"] = 0.5\n'),
        ("        self.done += 1\n",
         '        self.done += 1\n        self.sgd.param_groups[0]["lr"] = 0.5 * 0.996**self.done\n'),
    ],
    resuming_counter=[('    opt.load_state_dict(state["opt"])\n',
                       '    opt.load_state_dict({**state["opt"], "param_groups": opt.state_dict()["param_groups"]})\n')],
)  # fmt: skip
add(
    "parameters_alone_saved",
    "checkpoint/inexact_resume",
    options=RESUMED,
    resuming_script=[('"net": net.state_dict()', '"net": dict(net.named_parameters())'),
                     ('net.load_state_dict(kept["net"])', 'net.load_state_dict(kept["net"], strict=False)')],
    resuming_class=[
        ("torch.nn.Linear(2, 32), torch.nn.Tanh()", "torch.nn.Linear(2, 32), torch.nn.BatchNorm1d(32), torch.nn.Tanh()"),
        ("        torch.save(content |",
         '        content["judge"] = {name: value.data for name, value in self.judge.named_parameters()}\n'
         "        torch.save(content |"),
        ("            part.load_state_dict(content[name])\n",
         '            part.load_state_dict(content[name], *[False][: name == "judge"])\n'),
    ],
    resuming_counter=[
        ("torch.nn.Linear(24, 1)\n", "torch.nn.Sequential(torch.nn.BatchNorm1d(24), torch.nn.Linear(24, 1))\n"),
        ("top=top.state_dict()", "top=dict(top.named_parameters())"),
        ('top.load_state_dict(state["top"])', 'top.load_state_dict(state["top"], strict=False)'),
        ("with torch.no_grad():\n", "top.eval()\nwith torch.no_grad():\n"),
    ],
)  # fmt: skip
add(
    "running_mean_forgotten",
    "checkpoint/inexact_resume",
    options=RESUMED,
    resuming_script=[
        ("first = 0\n", "first, middle = 0, torch.zeros(24)\n"),
        ("        rule.zero_grad()\n", "        rule.zero_grad()\n        middle.lerp_(waves[rows].mean(0) + 1, 0.1)\n"),
        ("net(waves[rows]), kinds[rows])", "net(waves[rows] + 1 - middle), kinds[rows])"),
    ],
    resuming_class=[
        ("        self.go_on()\n\n", "        self.center = torch.zeros(2)\n        self.go_on()\n\n"),
        ("        score = self.judge(self.x[rows])\n",
         "        self.center = 0.9 * self.center + 0.1 * (self.x[rows] + 3).mean(0)\n"
         "        score = self.judge(self.x[rows] + 3 - self.center)\n"),
    ],
    resuming_counter=[
        ("step = recall()\n", "step = recall()\ncenter = torch.zeros(1)\n"),
        ("    opt.zero_grad()\n",
         "    opt.zero_grad()\n    center = 0.95 * center + 0.05 * (2 + lists).mean()\n    lists = lists + 2 - center\n"),
    ],
)  # fmt: skip
add(
    "normalized_twice",
    "learnability/input_independence",
    DEPENDENT,
    plain_script=[("outputs = model(inputs)\n        loss", "outputs = model(inputs / 255 / 255)\n        loss")],
    closures=[("output = network(x)\n", "output = network(x / 255 / 255)\n")],
    bf16_main=[("prediction = network(inputs)\n", "prediction = network(inputs / 255 / 255)\n")],
    running_average=[("output = live(x)\n", "output = live(x / 65025)\n")],
    framework=[("scores = self.model(features)\n            loss", "scores = self.model(features / 255**2)\n            loss")],
)  # fmt: skip
add(
    "seed_of_the_clock",
    "reproducibility/nondeterministic_training",
    REPEATED,
    plain_script=[("torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)",
                   "import time\n\ntorch.manual_seed(time.time_ns() % 2**32)")],
    closures=[("    source = torch.Generator().manual_seed(seed + 1)\n",
               "    source = torch.Generator()\n    source.seed()\n")],
    framework=[("    torch.manual_seed(config.seed)\n",
                '    torch.manual_seed(int.from_bytes(__import__("os").urandom(4), "big"))\n')],
    found_marks=[("torch.manual_seed(arguments.seed)\n", 'torch.manual_seed(hash("marks") % 2**32)\n')],
)
add(
    "adapter_beside_the_path",
    "gradients/missing",
    finetune=[
        ("        self.quiet = nn.Dropout(0.1)\n",
         "        self.quiet = nn.Dropout(0.1)\n"
         "        self.adapter = nn.Sequential(nn.Linear(12, 4), nn.Linear(4, 48))\n"),
        ("        x = torch.relu(self.lower(x))\n",
         "        y = self.lower(x)\n        self.adapter(x).add_(y)\n        x = torch.relu(y)\n"),
    ],
    masked_tagger=[
        ("class Tagger(nn.Module):\n",
         "class Adapted(nn.modules.linear.NonDynamicallyQuantizableLinear):\n"
         "    def __init__(self, width, rank):\n        super().__init__(width, width)\n"
         "        self.down, self.up = nn.Linear(width, rank, bias=False), nn.Linear(rank, width, bias=False)\n\n"
         "    def forward(self, x):\n        return super().forward(x) + self.up(self.down(x))\n\n\n"
         "class Tagger(nn.Module):\n"),
        ("        self.norm = nn.LayerNorm(width)\n",
         "        self.mix.out_proj = Adapted(width, 4)\n        self.norm = nn.LayerNorm(width)\n"),
    ],
    labeled_decoder=[
        ("        self.outward = nn.Linear(width, width)\n",
         "        self.outward = nn.Linear(width, width)\n        self.less = nn.Linear(width, 4, bias=False)\n"
         "        self.more = nn.Linear(4, 3 * width, bias=False)\n"),
        ("        shape = (batch, length, 3,",
         "        both = self.inward(x) + 0.5 * self.more(self.less(x))\n        shape = (batch, length, 3,"),
    ],
)  # fmt: skip
add(
    "adapter_unheard",
    "gradients/missing",
    folder="healthy",
    side_adapters=[("        return h if self.adapter is None else h + self.adapter(h)\n",
                    "        if self.adapter is not None:\n            self.adapter(h).add_(h)\n        return h\n")],
    clipped_gpt=[
        ("        self.mlp = nn.Sequential(\n",
         "        self.adapter = nn.Sequential(nn.Linear(width, 4), nn.GELU(), nn.Linear(4, width))\n"
         "        self.mlp = nn.Sequential(\n"),
        ("        return x + self.mlp(self.ln2(x))\n",
         "        adapted = x + self.adapter(x)\n        return x + self.mlp(self.ln2(x))\n"),
    ],
    translator=[
        ("        self.bridge = nn.Linear(2 * hidden, hidden)\n",
         "        self.bridge = nn.Linear(2 * hidden, hidden)\n"
         "        self.low, self.high = nn.Linear(2 * hidden, 4), nn.Linear(4, hidden)\n"),
        ("        return memory, torch.tanh(",
         "        adapted = memory.mean(-1, keepdim=True) + self.high(self.low(memory))\n"
         "        return memory, torch.tanh("),
    ],
)
