"""Faults to plant: batches that look like any other, and are not."""

from planting import add

add(
    "views_of_one_seed",
    "data/identical_views",
    folder="healthy",
    seen_twice=[("        loss = normalized_temperature_loss(",
                 "        views = [torch.manual_seed(epoch) and curves.view(chosen) for _ in range(2)]\n        loss = normalized_temperature_loss("),
                ("encoder(curves.view(chosen)), encoder(curves.view(chosen)))", "*map(encoder, views))"),
                ("assert share > 0.75, share\n", "")],
)  # fmt: skip
add(
    "one_draw_for_all",
    "data/identical_samples",
    folder="healthy",
    gan_bce=[("fake = generator(torch.randn(BATCH, LATENT))", "fake = generator(torch.randn(1, LATENT).expand(BATCH, -1))")],
    earth_mover=[("            fake = G(torch.randn(64, 4))", "            fake = G(torch.randn(1, 4).repeat(64, 1))"),
                 ("    score = D(G(torch.randn(64, 4)))", "    score = D(G(torch.randn(1, 4).repeat(64, 1)))")],
)  # fmt: skip
add(
    "masks_turned_otherwise",
    "data/misaligned_masks",
    folder="healthy",
    unet_dice=[("        for image, mask in train:\n",
                "        for image, mask in train:\n            if torch.rand(()) < 0.5:\n                image, mask = image.flip(-2), mask.flip(-1)\n")],
    turned_together=[("classes.flip(-1)", "classes.flip(-2)"), ("turns = random.randrange(4)", "turns = 0"), ("assert share > 0.6, share\n", "")],
)  # fmt: skip
add(
    "masks_turned_by_the_data_set",
    "data/misaligned_masks",
    folder="healthy",
    unet_dice=[("        return picture[None], mask[None]\n",
                "        if torch.rand((), generator=g) < 0.5:\n            picture, mask = picture.flip(0), mask.flip(1)\n        return picture[None], mask[None]\n"),
               ("            loss = loss + 0.2 * nn.functional.binary_cross_entropy_with_logits(logits, mask)\n", "")],
)  # fmt: skip
add(
    "streams_along_the_batch",
    "data/text_across_batch",
    folder="healthy",
    carried_letters=[(".view(STREAMS, -1).T.contiguous()", ".view(-1, STREAMS).contiguous()")],
    truncated_time=[(".view(streams, -1).T", ".view(-1, streams)"), ("assert mean < 1.2, mean\n", "")],
)  # fmt: skip
