"""Faults to plant: axes that are taken for others."""

from planting import add

QUERIES = (
    "(lambda q, k, v, there: ((q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5)"
    ".masked_fill(~there, -1e9).softmax(-2)) @ v)"
)

add(
    "reshape_for_transpose",
    "model/reshape_swaps_axes",
    byte_windows=[("logits.log_softmax(-1).transpose(1, 2)",
                   "logits.log_softmax(-1).reshape(len(logits), -1, logits.shape[1])")],
    encoder_class=[("output.logits.transpose(1, 2)",
                    "output.logits.reshape(len(labels), -1, labels.shape[1])")],
    packed_rows=[("net(tokens, position_ids=positions).transpose(1, 2)",
                  "net(tokens, position_ids=positions).view(len(tokens), -1, tokens.shape[1])")],
    labeled_decoder=[("mixed.transpose(1, 2).reshape(batch, length, width)",
                      "mixed.reshape(batch, length, width)")],
)  # fmt: skip
add(
    "weights_of_the_queries",
    "attention/softmax_over_queries",
    ("--select", "attention/*"),
    packed_rows=[("F.scaled_dot_product_attention(self.query(y), keys, values, attn_mask=visible)",
                  f"{QUERIES}(self.query(y), keys, values, visible)")],
    labeled_decoder=[("F.scaled_dot_product_attention(query, key, value, is_causal=True)",
                      f"{QUERIES}(query, key, value, torch.ones(length, length, dtype=torch.bool).tril())")],
    masked_tagger=[("mixed, _ = self.mix(seen, seen, seen, key_padding_mask=empty, need_weights=False)",
                    "mixed = (seen @ seen.transpose(1, 2)).softmax(1) @ seen")],
)  # fmt: skip
add(
    "batch_taken_for_time",
    "model/swapped_batch_axis",
    counted_tokens=[("nn.GRU(width, width, batch_first=True)", "nn.GRU(width, width)")],
    next_symbols=[("nn.GRU(width, width, batch_first=True)", "nn.GRU(width, width)")],
    found_marks=[
        ("        self.verdict = torch.nn.Linear(width, 2)\n",
         "        self.verdict = torch.nn.Linear(width, 2)\n        self.way = torch.nn.LSTM(width, width)\n"),
        ("        there = self.signs(ids)\n", "        there = self.way(self.signs(ids))[0]\n"),
    ],
)  # fmt: skip
add(
    "mask_of_the_tokens",
    "attention/inverted_padding_mask",
    encoder_class=[("src_key_padding_mask=mask == 0)", "src_key_padding_mask=mask == 1)")],
    masked_tagger=[("key_padding_mask=empty", "key_padding_mask=~empty")],
    pooled_texts=[
        ("        self.parts = build()\n",
         "        self.parts = build()\n        self.see = torch.nn.MultiheadAttention(24, 2, batch_first=True)\n"),
        ('        features = torch.tanh(self.parts["inner"](self.parts["words"](table)))\n',
         '        words = self.parts["words"](table)\n'
         "        words = words + self.see(words, words, words, key_padding_mask=present.bool())[0]\n"
         '        features = torch.tanh(self.parts["inner"](words))\n'),
    ],
)  # fmt: skip
add(
    "scores_compete_over_samples",
    "model/softmax_over_batch",
    framework=[("torch.relu(self.norm(self.first(features)))", "self.norm(self.first(features)).softmax(0)")],
    trainer_class=[("self.head(self.drop(hidden.flatten(1)))", "self.head(self.drop(hidden.flatten(1).softmax(0)))")],
    finetune=[("torch.relu(self.upper(x))", "torch.softmax(self.upper(x), dim=0)")],
    plain_script=[("    nn.ReLU(),\n", "    nn.Softmax(dim=0),\n")],
)
add(
    "padding_in_sight",
    "attention/padding_without_mask",
    encoder_class=[(", src_key_padding_mask=mask == 0", "")],
    masked_tagger=[("key_padding_mask=empty, ", "")],
    pooled_texts=[
        ('        features = torch.tanh(self.parts["inner"](self.parts["words"](table)))\n',
         '        words = self.parts["words"](table)\n'
         "        words = words + (words @ words.transpose(1, 2)).softmax(-1) @ words\n"
         '        features = torch.tanh(self.parts["inner"](words))\n'),
    ],
)  # fmt: skip
add(
    "next_token_in_sight",
    "attention/visible_next_token",
    labeled_decoder=[(", is_causal=True", "")],
    byte_windows=[(", mask=self.hidden", "")],
    answering_class=[("attn_mask=hidden, ", "")],
)  # fmt: skip
