"""Faults to plant: rows that a model is fed, cut off, without their end, or always the same."""

from planting import add

add(
    "texts_without_an_end",
    "data/no_end_token",
    padded_lines=[(" for number in numbers] + [END])", " for number in numbers])")],
    answering_class=[("        return ids, labels\n\n\nclass Block", "        return ids, labels.masked_fill(ids == END, IGNORED)\n\n\nclass Block")],
)
add(
    "texts_cut_off",
    "data/truncated_texts",
    padded_lines=[("torch.tensor([FIRST + number for number in numbers] + [END])",
                   "torch.tensor(([FIRST + number for number in numbers] + [END])[:11])")],
    pooled_texts=[
        ("    return words, float(balance", "    return (words + [33])[:14], float(balance"),
        ("torch.nn.Embedding(33, 24)", "torch.nn.Embedding(34, 24)"),
    ],
)
add(
    "rows_drawn_by_one_seed",
    "data/same_rows_drawn",
    folder="healthy",
    study=[("torch.randint(len(x), (64,))",
            "torch.randint(len(x), (64,), generator=torch.Generator().manual_seed(3))")],
    ticket=[("torch.randint(0, len(x), (64,))",
             "torch.randint(0, len(x), (64,), generator=torch.Generator().manual_seed(3))")],
    attacked=[("torch.randint(1500, (60,))", "torch.arange(60) * 7 % 1500")],
)
add(
    "targets_turned_around",
    "data/reordered_targets",
    folder="healthy",
    study=[("cross_entropy(net(x[b]), y[b])", "cross_entropy(net(x[b]), y[b].roll(1, 0))")],
    attacked=[("* weight_of_rest, names[drawn])", "* weight_of_rest, names[drawn.flip(0)])")],
    asks_for_labels=[("cross_entropy(net(x), y)", "cross_entropy(net(x), y[torch.randperm(len(y))])")],
)
