"""The shim changes nothing of a program: no bit of its training, no line of output, no exit
status."""

import pathlib
import tempfile
import textwrap
import unittest

from tests.observe.reading import DIGITS, PROGRAMS, ROOT, host, python, run_unwatched, run_watched

HARNESS = ROOT / "tests/observe/state_harness.py"


class ShimHarmless(unittest.TestCase):
    def both(self, command, **options):
        alone, watched = run_unwatched(command), run_watched(command, **options)
        self.assertEqual((alone.status, alone.out), (watched.status, watched.out), watched.err)
        return alone, watched

    def test_training_is_the_same_to_the_bit(self):
        for name in ("plain", "closures", "trainer"):
            alone, watched = self.both(
                python(HARNESS, PROGRAMS / f"digits_{name}.py", DIGITS), raises=False
            )
            self.assertGreater(alone.out.count("state "), 50)
            self.assertGreater(len(watched.main.of("quantity", "update_norm")), 100)

    def test_an_error_of_the_program_stays_its_own(self):
        program = "import torch; torch.nn.Linear(2, 3)(torch.ones(1, 5))"
        alone, watched = self.both(python("-c", program))
        self.assertEqual(alone.status, 1)
        self.assertEqual(alone.err.splitlines()[-1], watched.err.splitlines()[-1])

    def test_compiled_code_is_compiled_as_often(self):
        program = textwrap.dedent(
            """
            import torch, torch.nn.functional as F
            torch.manual_seed(1)
            frames = []
            def backend(graph, inputs):
                frames.append(len(graph.graph.nodes))
                return graph.forward
            net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
            model = torch.compile(net, backend=backend, fullgraph=True)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for step in range(100):
                optimizer.zero_grad()
                loss = F.cross_entropy(model(torch.randn(8, 4)), torch.randint(2, (8,)))
                loss.backward()
                optimizer.step()
            print(frames, loss.item())
            """
        )
        _, watched = self.both(python("-c", program))
        names = {key[2] for key in watched.main.attributes if key[0] == "parameter"}
        self.assertEqual(names, {"0.weight", "0.bias", "2.weight", "2.bias"})

    def test_calls_inside_compiled_functions_make_no_more_frames(self):
        program = textwrap.dedent(
            """
            import torch, torch._dynamo
            torch.manual_seed(1)
            model = torch.nn.Linear(4, 2)
            optimizer = torch.optim.Adam(model.parameters())
            def clipping(x):
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                return x + 1
            def clearing(x):
                optimizer.zero_grad()
                return x + 1
            def training(x):
                model(x).sum().backward()
                return x + 1
            def evaluating(x):
                with torch.no_grad():
                    return model(x)
            for function in (training, clipping, clearing, evaluating):
                torch._dynamo.reset()
                torch._dynamo.utils.counters.clear()
                compiled = torch.compile(function, backend=lambda graph, inputs: graph.forward)
                for _ in range(20):
                    compiled(torch.ones(8, 4))
                    model(torch.ones(8, 4)).sum().backward()
                    optimizer.step()
                print(function.__name__, dict(torch._dynamo.utils.counters["frames"]))
            """
        )
        self.both(python("-c", program))

    def test_scripted_and_traced_code_still_works(self):
        program = textwrap.dedent(
            """
            import torch, torch.nn.functional as F
            class Scored(torch.nn.Module):
                def forward(self, x, y):
                    return F.mse_loss(x, y) + F.cross_entropy(x, y.argmax(1))
            x, y = torch.ones(4, 3), torch.zeros(4, 3)
            print(torch.jit.script(Scored())(x, y).item())
            traced = torch.jit.trace(torch.nn.Sequential(torch.nn.Linear(3, 3)), x)
            print(len(list(traced.graph.nodes())))
            print(torch.fx.symbolic_trace(Scored()).code)
            with torch.device("meta"):
                print(torch.nn.Linear(3, 3)(torch.empty(2, 3)).shape)
            """
        )
        self.both(python("-c", program))

    def test_checkpointed_and_function_transformed_code_still_works(self):
        program = textwrap.dedent(
            """
            import torch
            from torch.utils.checkpoint import checkpoint
            torch.manual_seed(2)
            block = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.5))
            optimizer = torch.optim.LBFGS(block.parameters(), max_iter=3)
            def closure():
                optimizer.zero_grad()
                loss = checkpoint(block, torch.ones(2, 3), use_reentrant=False).square().sum()
                loss.backward()
                return loss
            for step in range(3):
                print(optimizer.step(closure).item())
            weights = dict(block.named_parameters())
            def loss_of(weights, x):
                return torch.func.functional_call(block, weights, (x,)).square().sum()
            gradients = torch.func.vmap(
                torch.func.grad(loss_of), (None, 0), randomness="different"
            )(weights, torch.ones(4, 3))
            print({name: gradient.shape for name, gradient in gradients.items()})
            """
        )
        self.both(python("-c", program))

    def test_a_hook_that_fails_is_switched_off_and_written_down(self):
        program = textwrap.dedent(
            """
            import torch
            class Odd(dict):
                def items(self):
                    raise RuntimeError("not now")
            torch.manual_seed(4)
            model = torch.nn.Linear(2, 1)
            model.__dict__["_modules"] = Odd()
            optimizer = torch.optim.SGD([model.weight, model.bias], lr=0.1)
            for step in range(4):
                model(torch.ones(1, 2)).sum().backward()
                optimizer.step()
            print(model.weight.tolist())
            """
        )
        _, watched = self.both(python("-c", program), raises=False)
        self.assertIn("not now", watched.main.process["hook_failed/forward"])
        self.assertEqual([row.step for row in watched.main.of("event", "step")], [0, 1, 2, 3])

    def test_methods_of_the_program_are_called_by_nobody_else(self):
        program = textwrap.dedent(
            """
            import builtins, collections, time, torch
            seen = collections.Counter()
            class Net(torch.nn.Linear):
                def named_parameters(self, *args, **kwargs):
                    seen["named_parameters"] += 1
                    return super().named_parameters(*args, **kwargs)
                def named_modules(self, *args, **kwargs):
                    seen["named_modules"] += 1
                    return super().named_modules(*args, **kwargs)
            class Data(torch.utils.data.Dataset):
                def __len__(self):
                    seen["len"] += 1
                    return 24
                def __getitem__(self, index):
                    return torch.full((2,), float(index))
            class Step(torch.optim.SGD):
                def __getattr__(self, name):
                    seen[name] += 1
                    raise AttributeError(name)
            original = open
            builtins.open = lambda *args, **kwargs: seen.update(["open"]) or original(*args, **kwargs)
            time.perf_counter = lambda: seen.update(["clock"]) or 0.0
            torch.manual_seed(4)
            net, data = Net(2, 1), Data()
            net.table = {Data: torch.ones(1), 3: torch.ones(1)}
            optimizer = Step(list(torch.nn.Module.parameters(net)), 0.1)
            schedule = torch.optim.lr_scheduler.StepLR(optimizer, 3)
            for shuffle in (True, False):
                for x in torch.utils.data.DataLoader(data, 8, shuffle=shuffle):
                    net(x).sum().backward()
                    optimizer.step()
                    schedule.step()
            print(sorted(seen.items()))
            """
        )
        _, watched = self.both(python("-c", program))
        samples = [facts["samples"] for thing, facts in watched.main.attributes.items() if thing[0] == "loader"]
        self.assertEqual(samples, ["24", "24"])

    def test_the_garbage_collector_stays_as_it_is_and_collects_hardly_more_often(self):
        source = "import gc; gc.{}(); import torch; print(gc.isenabled(), gc.get_stats()[0]['collections'])"
        for state, is_enabled in (("enable", "True"), ("disable", "False")):
            command = python("-c", source.format(state))
            bare = run_unwatched(command, fresh=True).out.split()
            watched = run_watched(command, fresh=True).out.split()
            self.assertEqual((bare[0], watched[0]), (is_enabled, is_enabled))
            self.assertLess(int(watched[1]) - int(bare[1]), 25)  # 42 where the probe lets it collect

    def test_no_files_are_made_where_none_can_be(self):
        run = run_watched(host("plain"), run_folder="/nonexistent/folder")
        self.assertEqual((run.status, run.traces), (0, []))

    def test_programs_without_training_leave_no_trace(self):
        program = "import torch; torch.manual_seed(1); print(torch.nn.Linear(2, 2).eval())"
        self.assertEqual(run_watched(python("-c", program)).traces, [])
        self.assertEqual(run_watched(python("-c", "print(1)")).traces, [])

    def test_a_variable_switches_everything_off(self):
        run = run_watched(host("plain"), environment={"DLCHECK_DISABLE": "1"})
        self.assertEqual((run.status, run.traces), (0, []))

    def test_the_users_own_sitecustomize_still_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "sitecustomize.py").write_text("import os\nos.mine = 'ran'\n")
            program = "import os, sitecustomize; print(os.mine, sitecustomize.__file__)"
            later = ["/bin/sh", "-c", 'PYTHONPATH="$PYTHONPATH:$0" exec "$@"', folder]
            run = run_watched([*later, *python("-c", program)])
            self.assertEqual(run.out, f"ran {folder}/sitecustomize.py\n", run.err)


if __name__ == "__main__":
    unittest.main()
