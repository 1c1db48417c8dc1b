"""What a program puts around torch's operations sees the program's own operations alone: modes that count,
draw random numbers or forbid, and tensors with a `__torch_function__`."""

import json
import textwrap
import unittest

from tests.observe.reading import python, run_unwatched, run_watched

# A mode or a tensor class of the program, by name; each counts what it sees and may draw.
AROUND = textwrap.dedent(
    """
    import collections, contextlib, json, os, random, sys, tempfile
    import torch, torch.nn as nn, torch.nn.functional as F
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    SEEN = collections.Counter()

    def note(func):
        owner = getattr(getattr(func, "__self__", None), "__name__", "")
        SEEN[f"{getattr(func, '__qualname__', func)} {owner}"] += 1

    class FunctionMode(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            note(func)
            torch.rand(1)
            return func(*args, **(kwargs or {}))

    class DispatchMode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            note(func)
            torch.rand(1)
            return func(*args, **(kwargs or {}))

    class Forbidding(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            note(func)
            if func is torch.ops.aten._local_scalar_dense.default:
                raise RuntimeError("a number is read")
            return func(*args, **(kwargs or {}))

    class Counted(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            note(func)
            return super().__torch_function__(func, types, args, kwargs or {})

    def nothing(value):
        return value

    def counted(value):
        return value.as_subclass(Counted)

    def train(of_inputs, of_weights, forbids):
        torch.manual_seed(0)
        random.seed(0)
        net = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Dropout(0.2), nn.Linear(12, 4))
        net[0].weight = nn.Parameter(of_weights(net[0].weight.detach()))
        optimizer = torch.optim.Adam(net.parameters(), 1e-2)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 5)
        # Copies of tensors with a class of their own are refused by torch.
        averages = not forbids and of_weights is nothing
        average = torch.optim.swa_utils.AveragedModel(net) if averages else None
        losses = [
            F.cross_entropy,
            lambda o, t: F.nll_loss(F.log_softmax(o, 1), t),
            lambda o, t: F.mse_loss(o, F.one_hot(t, 4).float()),
            lambda o, t: F.binary_cross_entropy_with_logits(o, F.one_hot(t, 4).float()),
            lambda o, t: (o.logsumexp(1) - o.gather(1, t[:, None])[:, 0]).mean(),
        ]
        for step in range(80):
            x, y = of_inputs(torch.randn(8, 6)), of_inputs(torch.randint(4, (8,)))
            optimizer.zero_grad()
            losses[step % (2 if forbids else len(losses))](net(x), y).backward()
            if not forbids:
                nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                optimizer.step()
            if averages:
                average.update_parameters(net)
            schedule.step()
            if step % 40 == 39:
                net.eval()
                with torch.no_grad():
                    F.cross_entropy(net(x), y)
                net.train()
                with tempfile.TemporaryFile() as file:
                    torch.save({"model": net.state_dict(), "optimizer": optimizer.state_dict()}, file)
        return net
    """
)

ENDS = textwrap.dedent(
    """
    torch._C.DisableTorchFunction().__enter__()
    state = [value.as_subclass(torch.Tensor).double().sum().item() for value in net.state_dict().values()]
    print(json.dumps([SEEN, state, torch.initial_seed(), torch.rand(2).tolist(), random.random()]))
    """
)

PROGRAMS = {
    "a TorchFunctionMode that draws": "with FunctionMode(): net = train(nothing, nothing, False)",
    "a TorchDispatchMode that draws": "with DispatchMode(): net = train(nothing, nothing, False)",
    "a TorchDispatchMode that forbids host reads": "with Forbidding(): net = train(nothing, nothing, True)",
    "inputs with a __torch_function__": "net = train(counted, nothing, False)",
    "weights with a __torch_function__": "net = train(nothing, counted, False)",
}


class Modes(unittest.TestCase):
    def test_they_see_as_many_calls_of_each_function_and_end_with_the_same_bits(self):
        for name, line in PROGRAMS.items():
            with self.subTest(name):
                program = AROUND + line + ENDS
                alone = run_unwatched(python("-c", program))
                watched = run_watched(python("-c", program), raises=False)
                self.assertEqual((alone.status, watched.status), (0, 0), alone.err + watched.err)
                self.assertEqual(json.loads(alone.out), json.loads(watched.out))
                self.assertGreater(sum(json.loads(alone.out)[0].values()), 500)

    def test_losses_and_gradients_are_recorded_all_the_same(self):
        for name in ("a TorchFunctionMode that draws", "a TorchDispatchMode that draws"):
            watched = run_watched(python("-c", AROUND + PROGRAMS[name]), raises=False)
            with self.subTest(name):
                self.assertGreaterEqual(len(watched.main.of("quantity", "loss")), 80)
                self.assertGreater(len(watched.main.of("quantity", "gradient_norm")), 0)

    def test_a_family_of_hooks_survives_fake_tensors(self):
        program = textwrap.dedent(
            """
            import torch
            from torch._subclasses.fake_tensor import FakeTensorMode

            def train(steps):
                net = torch.nn.Linear(4, 4)
                optimizer = torch.optim.SGD(net.parameters(), 0.1)
                for _ in range(steps):
                    optimizer.zero_grad()
                    torch.nn.functional.mse_loss(net(torch.randn(8, 4)), torch.zeros(8, 4)).backward()
                    optimizer.step()

            with FakeTensorMode():
                train(3)
            train(20)
            """
        )
        watched = run_watched(python("-c", program), raises=False)
        failed = [key for key in watched.main.process if key.startswith("hook_failed")]
        self.assertEqual(failed, [])
        self.assertEqual(len(watched.main.of("quantity", "loss")), 20)


if __name__ == "__main__":
    unittest.main()
