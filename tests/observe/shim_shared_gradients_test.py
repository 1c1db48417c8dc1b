"""What a program does to gradients after a wrapper shared them is told as one factor, and stays as it is."""

import unittest

from tests.observe.shim_ranks_test import program, traces_of

CLIP = "nn.utils.clip_grad_norm_(model.parameters(), 0.1)"
SCALED = (
    "scaler = globals().setdefault('scaler', torch.amp.GradScaler('cpu', init_scale=8.0)); "
    "[p.grad.mul_(8 / 2) for p in model.parameters()]; scaler.scale(torch.ones(())); "
    "scaler.unscale_(optimizer); scaler.update()"
)


def times(factor):
    return f"[p.grad.mul_({factor}) for p in model.parameters()]"


class ShimSharedGradients(unittest.TestCase):
    def told(self, share):
        """What the first process told of its group."""
        return traces_of(program(share=share))[0].attributes[("replicas", "0", "0-1")].get("gradients_times")

    def test_a_division_is_told_although_gradients_are_clipped_after_it(self):
        self.assertEqual(float(self.told(f"{times(0.5)}; {CLIP}")), 0.5)

    def test_gradients_that_are_put_together_again_are_told_to_be_twice_as_long(self):
        self.assertAlmostEqual(float(self.told("[dist.all_reduce(p.grad) for p in model.parameters()]")), 2)

    def test_a_factor_that_becomes_another_is_taken_back(self):
        self.assertEqual(float(self.told(times("0.5 if step < 5 else 0.25"))), 0)

    def test_other_changes_than_by_a_factor_are_not_told(self):
        self.assertIsNone(self.told("[p.grad.add_(0.1) for p in model.parameters()]"))

    def test_scaling_and_clipping_are_no_factors_and_the_program_ends_with_the_same_weights(self):
        traces, watched, unwatched = traces_of(program(share=f"{SCALED}; {CLIP}"), alone=True)
        self.assertEqual((unwatched.status, unwatched.out), (0, watched.out))
        told = traces[0].attributes[("replicas", "0", "0-1")]["gradients_times"]
        self.assertEqual(float(told), 4)  # by the program itself, before it unscales


if __name__ == "__main__":
    unittest.main()
