"""Of a program that trains in several threads one is watched, and the others are left alone."""

import textwrap
import unittest

from tests.observe.reading import SHIM, python, run_unwatched, run_watched

THREADS = textwrap.dedent(
    """
    import threading, time, torch, torch.nn.functional as F
    torch.manual_seed(0)
    x, y = torch.randn(64, 20), torch.randint(4, (64,))
    models = [torch.nn.Sequential(torch.nn.Linear(20, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
              for _ in range(3)]
    def train(model):
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        for _ in range(100):
            time.sleep(0.001)
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
    threads = [threading.Thread(target=train, args=(model,)) for model in models]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    """
)

ACTORS = textwrap.dedent(
    """
    import threading, time, torch
    torch.manual_seed(0)
    # A hook of the program's own that lets other threads run while a module's hooks are called.
    torch.nn.modules.module.register_module_forward_hook(lambda *_: time.sleep(5e-5))
    model = torch.nn.Sequential(*[torch.nn.Linear(5, 5) for _ in range(6)])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    actor = torch.nn.Sequential(*[torch.nn.Linear(5, 5) for _ in range(30)]).eval()
    done, errors = threading.Event(), []
    def act():
        try:
            while not done.is_set():
                with torch.no_grad():
                    actor(torch.ones(2, 5))
        except BaseException as error:
            errors.append(repr(error))
    threads = [threading.Thread(target=act) for _ in range(2)]
    [thread.start() for thread in threads]
    x = torch.randn(8, 5)
    for step in range(300):
        optimizer.zero_grad()
        loss = (model(x) - x).square().mean()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            with torch.no_grad():
                model(x)
    done.set()
    [thread.join() for thread in threads]
    print(loss.item(), errors)
    """
)

# Each parameter notes the threads that read its gradient, and stays with the thread that trains it.
READS = textwrap.dedent(
    """
    import threading, torch
    class Noted(torch.nn.Parameter):
        readers = set()
        @property
        def grad(self):
            Noted.readers.add((self.trainer, threading.get_ident()))
            return torch.Tensor.grad.__get__(self)
        @grad.setter
        def grad(self, value):
            torch.Tensor.grad.__set__(self, value)
        @grad.deleter
        def grad(self):
            torch.Tensor.grad.__delete__(self)
    x = torch.randn(64, 20)
    together = threading.Barrier(2)
    def train(model, optimizer):
        for parameter in model.parameters():
            parameter.trainer = threading.get_ident()
        together.wait()
        for _ in range(40):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            together.wait()
            loss.backward()
            optimizer.step()
            together.wait()
    def trained():
        model = torch.nn.Linear(20, 3)
        for name, parameter in list(model.named_parameters()):
            setattr(model, name, Noted(parameter.detach()))
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        return threading.Thread(target=train, args=(model, optimizer))
    threads = [trained(), trained()]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    print(len(Noted.readers), all(trainer == reader for trainer, reader in Noted.readers))
    """
)
# A thread of the program fills a tuple from a generator, while the probe looks for objects of a class.
TUPLES = textwrap.dedent(
    """
    import sys, threading
    sys.path.insert(0, {folder!r})
    from dlcheck_shim.state.objects_alive import tensors_alive
    done, errors = threading.Event(), []
    def fill():
        try:
            while not done.is_set():
                tuple(number for number in range(2000))
        except BaseException as error:
            errors.append(repr(error))
    thread = threading.Thread(target=fill)
    others = [[number] for number in range(100_000)]
    sys.setswitchinterval(1e-6)
    thread.start()
    found = [len(tensors_alive()) for _ in range(100)]
    done.set()
    thread.join()
    print(errors)
    """
)


class ShimThreads(unittest.TestCase):
    def test_one_thread_is_watched_and_the_others_are_counted(self):
        run = run_watched(python("-c", THREADS))
        self.assertEqual(run.status, 0, run.err)
        self.assertEqual(run.main.process["unseen_threads"], "2")
        steps = len(run.main.of("event", "step"))
        steps += sum(row.value for row in run.main.of("gap", "step"))
        self.assertEqual(steps, 100)
        owners = {row.thing for row in run.main.of("event", "step")}
        self.assertEqual(len(owners), 1)
        parameters = [key for key in run.main.attributes if key and key[0] == "parameter"]
        self.assertEqual(len(parameters), 4)

    def test_gradients_are_read_by_the_thread_that_trains_with_them(self):
        run = run_watched(python("-c", READS))
        self.assertEqual((run.status, run.out.strip()), (0, "2 True"), run.err)
        self.assertEqual(run.main.process["unseen_threads"], "1")

    def test_tuples_that_other_threads_fill_are_not_held(self):
        run = run_unwatched(python("-c", TUPLES.format(folder=str(SHIM))))
        self.assertEqual((run.status, run.out.strip()), (0, "[]"), run.err)

    def test_a_forward_elsewhere_passes_while_hooks_come_and_go(self):
        alone, watched = (run(python("-c", ACTORS)) for run in (run_unwatched, run_watched))
        self.assertEqual((watched.status, watched.out), (0, alone.out), watched.err)

    def test_a_program_that_trains_in_a_thread_alone_is_watched(self):
        run = run_watched(python("-c", THREADS.replace("range(3)", "range(1)")))
        gaps = sum(row.value for row in run.main.of("gap", "step"))
        self.assertEqual(len(run.main.of("event", "step")) + gaps, 100)
        self.assertNotIn("unseen_threads", run.main.process)


if __name__ == "__main__":
    unittest.main()
