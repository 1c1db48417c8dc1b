"""Between the program and torch there is no frame of the probe that a warning, a filter, a traceback or the
recursion limit could see."""

import pathlib
import sys
import tempfile
import textwrap
import unittest

from tests.observe.reading import run_unwatched, run_watched

WARNS = textwrap.dedent(
    """
    import sys, warnings
    import torch, torch.nn as nn, torch.nn.functional as F

    def show(message, category, filename, lineno, file=None, line=None):
        print(category.__name__, filename.rsplit("/", 1)[-1], lineno, str(message).splitlines()[0][:60])

    warnings.showwarning = show
    net = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 5)
    loss = F.mse_loss(net(torch.ones(8, 4)), torch.zeros(8))
    F.l1_loss(net(torch.ones(8, 4)), torch.zeros(8))
    F.smooth_l1_loss(net(torch.ones(8, 4)), torch.zeros(8))
    F.huber_loss(net(torch.ones(8, 4)), torch.zeros(8))
    F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 1]), size_average=True)
    F.nll_loss(torch.ones(2, 3), torch.tensor([0, 1]), reduce=True)
    F.kl_div(torch.ones(2, 3), torch.ones(2, 3))
    schedule.step()
    schedule.step(3)
    loss.backward(create_graph=True)
    nn.utils.clip_grad_norm_((p for p in ()), 1.0)
    optimizer.step()
    module = nn.Linear(2, 2)
    module.register_full_backward_hook(lambda *_: None)
    module(torch.ones(1, 2))
    torch.optim.swa_utils.AveragedModel(net).update_parameters(net)
    torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, verbose=True) if "v" in sys.argv else None
    torch.amp.GradScaler("cpu").unscale_(optimizer)
    """
)

# Each line raises inside of a function that the probe watches.
RAISES = [
    "F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 7]))",
    "F.mse_loss(torch.ones(2, 3), torch.ones(2, 4))",
    "nn.utils.clip_grad_norm_(3, 1.0)",
    "torch.ones(1).backward()",
    "net.load_state_dict({})",
    "optimizer.load_state_dict({'param_groups': [], 'state': {}})",
    "torch.optim.SGD([], 0.1)",
    "torch.load('no-such-file')",
    "torch.save(net, '/no/such/folder/file')",
    "schedule.load_state_dict(None)",
    "torch.optim.lr_scheduler.StepLR(None, 3)",
    "next(iter(torch.utils.data.DataLoader([1, 'a'], 2)))",
    "torch.manual_seed('x')",
    "net.train(3)",
    "torch.amp.GradScaler('cpu').unscale_(None)",
    "torch.distributed.all_reduce(torch.ones(1))",
    "nn.Sequential(net, nn.Sequential(net))(torch.ones(1, 9))",
]  # fmt: skip


class Frames(unittest.TestCase):
    def both(self, program, *flags):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "program.py")
            file.write_text(program)
            command = [sys.executable, *flags, file]
            return run_unwatched(command), run_watched(command, raises=False)

    def test_warnings_name_the_same_file_and_line(self):
        alone, watched = self.both(WARNS, "-W", "always")
        self.assertEqual(watched.out, alone.out)
        self.assertEqual((watched.status, watched.err), (alone.status, alone.err))
        self.assertGreater(alone.out.count("UserWarning"), 6, alone.out)

    def test_a_filter_by_the_programs_module_finds_its_warnings(self):
        for rule in ("error::UserWarning:__main__", "ignore::UserWarning:torch"):
            alone, watched = self.both(WARNS, "-W", "default", "-W", rule)
            self.assertEqual((watched.status, watched.out), (alone.status, alone.out), rule)

    def test_errors_have_the_tracebacks_that_they_have_alone(self):
        head = "import torch, torch.nn as nn, torch.nn.functional as F, traceback\n"
        head += "net = nn.Linear(4, 1)\noptimizer = torch.optim.SGD(net.parameters(), 0.1)\n"
        head += "schedule = torch.optim.lr_scheduler.StepLR(optimizer, 5)\n"
        for line in RAISES:
            head += f"try:\n    {line}\n    print('went well')\nexcept Exception:\n    print(traceback.format_exc())\n"
        alone, watched = self.both(head, "-W", "ignore")
        self.assertEqual(watched.out, alone.out)
        self.assertNotIn("went well", alone.out)
        self.assertEqual(alone.out.count("Traceback (most recent call last)"), len(RAISES))

    def test_functions_stay_the_same_objects(self):
        program = textwrap.dedent(
            """
            import inspect, pickle, torch, torch.nn.functional as F
            from torch.nn.functional import cross_entropy
            assert cross_entropy is F.cross_entropy
            assert "reduction" in inspect.signature(F.cross_entropy).parameters
            assert "def cross_entropy" in inspect.getsource(F.cross_entropy)
            assert pickle.loads(pickle.dumps(F.cross_entropy)) is F.cross_entropy
            assert not hasattr(F.cross_entropy, "__wrapped__")
            class Model(torch.nn.Module):
                def forward(self, x, y):
                    return F.cross_entropy(x, y)
            print(torch.jit.script(Model())(torch.ones(2, 3), torch.tensor([0, 1])))
            """
        )
        alone, watched = self.both(program, "-W", "ignore")
        self.assertEqual((alone.status, watched.status), (0, 0), alone.err + watched.err)
        self.assertEqual(watched.out, alone.out)

    def test_the_call_is_as_deep_as_without_us(self):
        program = textwrap.dedent(
            """
            import sys, torch, torch.nn.functional as F
            class Deep(torch.Tensor):
                @classmethod
                def __torch_function__(cls, func, types, args=(), kwargs=None):
                    frame, depth = sys._getframe(), 0
                    while frame is not None:
                        frame, depth = frame.f_back, depth + 1
                    print(func.__name__, depth)
                    return super().__torch_function__(func, types, args, kwargs or {})
            F.mse_loss(torch.ones(2).as_subclass(Deep), torch.ones(2))
            """
        )
        alone, watched = self.both(program, "-W", "ignore")
        self.assertEqual((watched.status, watched.out), (0, alone.out), watched.err)

    def test_modules_in_modules_are_as_deep_and_no_table_of_hooks_shows_us(self):
        program = textwrap.dedent(
            """
            import sys, torch, torch.nn as nn
            def show(*_):
                frame, depth = sys._getframe(), 0
                while frame is not None:
                    frame, depth = frame.f_back, depth + 1
                print(depth)
            net = inner = nn.Linear(2, 2)
            for _ in range(10):
                net = nn.Sequential(net)
            inner.register_forward_hook(show)
            optimizer = torch.optim.SGD(net.parameters(), 0.1)
            home = nn.modules.module
            for step in range(3):
                net(torch.ones(1, 2)).sum().backward()
                optimizer.step()
                print(len(home._global_forward_hooks), len(home._global_forward_pre_hooks))
            """
        )
        alone, watched = self.both(program, "-W", "ignore")
        self.assertEqual((watched.status, watched.out), (0, alone.out), watched.err)
        self.assertEqual(len(watched.main.of("event", "step")), 3)


if __name__ == "__main__":
    unittest.main()
