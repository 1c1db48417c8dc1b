"""What a careful user writes beside digits_mlp.py: eighteen lines of checks, in pytest's style.

Imports and data are not counted.
"""

import math

import digits_mlp as program
import torch

torch.manual_seed(program.SEED)
TRAIN, TEST = program.load()
IMAGES, LABELS = next(iter(TRAIN))


def test_a_step_clears_all_gradients_and_moves_all_parameters():
    model, optimizer = program.build()
    before = [parameter.detach().clone() for parameter in model.parameters()]
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, 1e6)
    program.train_step(model, optimizer, IMAGES, LABELS)
    for parameter, old in zip(model.parameters(), before):
        assert parameter.grad.abs().max() < 1e3 and not parameter.equal(old)


def test_one_batch_is_learned_by_heart_from_a_loss_of_chance():
    model, optimizer = program.build()
    losses = [program.train_step(model, optimizer, IMAGES, LABELS) for _ in range(200)]
    assert abs(losses[0] - math.log(10)) < 0.3 and losses[-1] < 0.1


def test_a_few_epochs_stay_finite_in_training_mode_and_beat_chance():
    model, optimizer = program.build()
    for _ in range(3):
        loss = program.train_epoch(model, optimizer, TRAIN)
        assert math.isfinite(loss) and model.training
        assert program.evaluate(model, TEST) > 0.3
