"""Legal ways to call torch, each of which once went wrong under the shim: the program ends with the same
output and status, and no hook fails."""

import textwrap
import unittest

from tests.observe.reading import python, run_unwatched, run_watched

# Each part prints something of its own; all run in one process, in this order.
PARTS = {
    "losses_of_lone_numbers_and_keywords_of_backward": """
        w = torch.nn.Parameter(torch.tensor(1.0))
        optimizer = torch.optim.SGD([w], lr=0.01)
        for _ in range(200):
            optimizer.zero_grad()
            loss = F.mse_loss(w * 2, torch.tensor(1.0))
            torch.autograd.backward(tensors=[loss])
            optimizer.step()
        print(w.item())
    """,
    "closures_with_arguments_and_attributes": """
        class Line(torch.optim.Optimizer):
            found_inf, grad_scale = False, 2.0
            def __init__(self, parameters):
                super().__init__(parameters, {})
            def step(self, closure):
                with torch.enable_grad():
                    print([closure(scale).item() for scale in (1.0, 0.5)], closure.batch)
        def closure(scale):
            return (model(x) * scale).sum()
        closure.batch = 4
        Line(model.parameters()).step(closure)
    """,
    "hooks_of_saved_tensors_unpack_once": """
        store, unpacked = {}, []
        def pack(tensor):
            store[len(store)] = tensor
            return len(store) - 1
        def unpack(key):
            unpacked.append(key)
            return store[key]
        with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
            loss = F.mse_loss(model(x), y) * torch.tensor(0.5)
        loss.backward()
        print(len(unpacked) == len(set(unpacked)))
    """,
    "tracing_gives_the_same_graph": """
        traced = torch.jit.trace(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()),
                                 torch.ones(1, 2))
        print(len(list(traced.graph.nodes())))
        print(torch.fx.symbolic_trace(Loss()).code)
    """,
    "functions_are_pickled_by_their_names": """
        for function in (torch.load, torch.save, random.seed, torch.nn.utils.clip_grad_norm_,
                         F.cross_entropy):
            again = pickle.loads(pickle.dumps(function))
            print(getattr(again, "__name__", again))
        print(torch.save is torch.serialization.save)
    """,
    "methods_of_its_own_are_not_called": """
        class Talking(torch.nn.Linear):
            def state_dict(self, *args, **kwargs):
                print("asked for its state")
                return super().state_dict(*args, **kwargs)
            def parameters(self, *args, **kwargs):
                print("asked for its parameters")
                return super().parameters(*args, **kwargs)
        talking = Talking(3, 3)
        train(talking)
        talking.eval()
        with torch.no_grad():
            talking(x)
        train(talking)
    """,
    "warnings_are_the_programs_own": """
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled = torch.compile(model, backend="eager")
            rate = torch.tensor(0.1, requires_grad=True)
            train(compiled, torch.optim.SGD(model.parameters(), lr=rate))
            state = torch.nn.Parameter(torch.zeros(3), requires_grad=False)
            state.copy_(model(x).detach().mean(0))
        print("silent")
    """,
    "signals_reach_the_program": """
        class Late(Exception):
            pass
        def ring(*_):
            raise Late
        signal.signal(signal.SIGALRM, ring)
        def train_until_it_rings(seconds):
            try:
                signal.setitimer(signal.ITIMER_REAL, seconds)
                end = time.monotonic() + 10 + seconds
                while time.monotonic() < end:
                    train(model)
                return False  # what the handler raised was lost
            except Late:
                return True
            finally:
                torch.set_grad_enabled(True)  # torch itself leaves it off where it is interrupted
        print(sum(train_until_it_rings(0.003 + i % 17 * 0.0001) for i in range(400)))
    """,
    "what_raised_is_not_kept_alive": """
        class Bad(torch.nn.Linear):
            def forward(self, x):
                raise RuntimeError("out of memory")
        bad = Bad(3, 3)
        gone = weakref.ref(bad)
        try:
            bad(x)
        except RuntimeError:
            pass
        del bad
        gc.collect()
        print(gone() is None)
    """,
    "odd_tensors_pass": """
        weights = torch.randn(4, 3)
        def lone(w, a, b):
            return F.cross_entropy((a @ w.T)[None], b[None])
        found = torch.func.vmap(torch.func.grad(lone), (None, 0, 0))(weights, x, torch.arange(4))
        print(found.shape)
        with tempfile.TemporaryDirectory() as folder:
            torch.save({"table": torch.eye(3).to_sparse(), "w": model.weight}, folder + "/odd.pt")
        with torch.inference_mode():
            batch = torch.ones(4, 3)
        print(torch.nn.Linear(3, 1)(batch.clone().to_sparse().to_dense()).shape)
        torch.nn.utils.clip_grad_norm_({"w": model.weight}.values(), 1.0)
        torch.nn.utils.clip_grad_norm_(filter(None.__ne__, [model.weight]), 1.0)
    """,
}

PROGRAM = """
import gc, pickle, random, signal, tempfile, time, warnings, weakref
import importlib.util
assert importlib.util.find_spec("torch") is not None  # asked for before it is imported
import torch, torch.nn.functional as F
torch.manual_seed(2)
model, x, y = torch.nn.Linear(3, 3), torch.randn(4, 3), torch.zeros(4, 3)

class Loss(torch.nn.Module):
    def forward(self, a, b):
        return F.mse_loss(a, b)

def train(model, optimizer=None):
    optimizer = optimizer or torch.optim.SGD(torch.nn.Module.parameters(model), lr=0.01)
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
"""


class ShimLegalCalls(unittest.TestCase):
    def test_end_as_without_it(self):
        for name, part in PARTS.items():
            with self.subTest(name):
                source = PROGRAM + "train(model)\n" + textwrap.dedent(part)
                alone, watched = (run(python("-c", source)) for run in (run_unwatched, run_watched))
                self.assertEqual(alone.status, 0, alone.err)
                self.assertEqual((watched.status, watched.out), (0, alone.out), watched.err)
                failed = [key for key in watched.main.process if "failed" in key]
                self.assertEqual(failed, [], watched.main.process)
                self.assertGreater(len(watched.main.of("event", "step")), 0)


if __name__ == "__main__":
    unittest.main()
