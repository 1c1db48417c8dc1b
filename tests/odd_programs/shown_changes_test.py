"""What watching does change of a program that looks for it: as docs/what-watching-changes.md lists it, and no
more than that."""

import json
import pathlib
import tempfile
import unittest

from comparing import DLCHECK, Program, run

LOOKS = """
    import atexit, gc, json, os, resource, sys, time
    start = time.perf_counter()
    heard = [0]
    sys.addaudithook(lambda event, args: heard.__setitem__(0, heard[0] + (event == "open")))
    from tiny import *
    net, optimizer = train(steps=3)
    found = {"modules": sorted(sys.modules), "path": sys.path, "environment": dict(os.environ)}
    gc.collect()
    found["objects"] = len(gc.get_objects())

    def frames_at(levels):
        net = inner = nn.Identity()
        for _ in range(levels):
            net = nn.Sequential(net)
        found = []
        inner.register_forward_hook(lambda *_: found.append(depth()))
        net(torch.ones(1))
        return found[0]

    def hooks_of_modules():
        home = nn.modules.module
        return [len(home._global_forward_pre_hooks), len(home._global_forward_hooks)]

    def called_in(function):
        seen = set()
        sys.setprofile(lambda frame, *_: seen.add(frame.f_globals.get("__name__", "").partition(".")[0]))
        function()
        sys.setprofile(None)
        return sorted(seen)

    def operations_of(function):
        from torch.profiler import ProfilerActivity, profile
        with profile(activities=[ProfilerActivity.CPU]) as profiler:
            function()
        return sum(event.count for event in profiler.key_averages())

    def calls_of_detach(function):
        original, calls = torch.Tensor.detach, [0]
        def counted(tensor):
            calls[0] += 1
            return original(tensor)
        torch.Tensor.detach = counted
        function()
        torch.Tensor.detach = original
        return calls[0]

    def step():
        train(net, optimizer, steps=1)

    steps = sys.modules["torch.optim.optimizer"]
    found |= {
        "frames": [frames_at(n) for n in (1, 2, 11)], "hooks of modules": hooks_of_modules(),
        "hooks of steps": [len(steps._global_optimizer_pre_hooks), len(steps._global_optimizer_post_hooks)],
        "finders": [type(finder).__name__ for finder in sys.meta_path], "at exit": atexit._ncallbacks(),
        "names in torch": sorted(n for m in list(sys.modules.values()) for n in vars(m)
                                 if getattr(m, "__name__", "").startswith("torch") and n.startswith("__dlcheck")),
        "code": [f.__code__.co_code.hex() for f in (F.cross_entropy, nn.Module.train, nn.Module._call_impl)],
        "exit": type(os._exit).__name__, "parent": open(f"/proc/{os.getppid()}/comm").read().strip(),
        "called": called_in(step), "operations": operations_of(step), "detach": calls_of_detach(step),
        "opened": heard[0], "loader": sorted(vars(torch.__spec__.loader)),
        "seconds": time.perf_counter() - start, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }
    torch.compile(nn.Linear(2, 2), backend="eager")
    found |= {"hooks once compiled": hooks_of_modules(), "frames once compiled": [frames_at(n) for n in (1, 2, 11)]}
    print(json.dumps(found))
"""


class Changes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory(prefix="dlcheck-odd-") as name:
            place = pathlib.Path(name)
            program = Program(LOOKS, variables={"KINETO_LOG_LEVEL": "5"})
            bare = run(program, place, [])
            watched = run(program, place, [DLCHECK, "run", "--output-dir", place / "out", "--exit-code", "program", "--"])
            cls.records = sum(file.stat().st_size for file in (place / "out").rglob("*") if file.is_file())
            cls.boot = str(place / "out/runs/00-plain-0/boot")
        if bare.status or watched.status:
            raise AssertionError(bare.stderr + watched.stderr)
        cls.bare, cls.watched = json.loads(bare.stdout), json.loads(watched.stdout)

    def pair(self, key):
        return self.bare[key], self.watched[key]

    def more(self, key):
        bare, watched = self.pair(key)
        self.assertGreater(watched, bare)

    def test_two_variables_are_in_the_environment(self):
        bare, watched = self.pair("environment")
        self.assertEqual(watched["PYTHONPATH"], self.boot)
        self.assertEqual(set(watched) - set(bare), {"PYTHONPATH", "DLCHECK_REQUEST"})
        self.assertEqual({key: value for key, value in watched.items() if key in bare}, bare)

    def test_a_folder_is_in_the_path_of_modules(self):
        bare, watched = self.pair("path")
        self.assertEqual([place for place in watched if place != self.boot], bare)

    def test_modules_of_the_probe_and_of_the_standard_library_are_imported(self):
        bare, watched = map(set, self.pair("modules"))
        self.assertEqual(bare - watched, set())
        others = {name for name in watched - bare if name.partition(".")[0] != "dlcheck_shim"}
        self.assertLessEqual(others, {"urllib", "urllib.parse", "ipaddress", "binascii", "resource"})

    def test_a_finder_waits_for_libraries(self):
        bare, watched = self.pair("finders")
        self.assertEqual(watched, ["AfterImport", *bare])

    def test_the_loader_of_torch_is_as_it_was(self):
        bare, watched = self.pair("loader")
        self.assertEqual(watched, bare)

    def test_a_function_is_called_at_exit(self):
        bare, watched = self.pair("at exit")
        self.assertEqual(watched, bare + 1)

    def test_an_audit_hook_sees_the_records(self):
        self.more("opened")

    def test_no_global_hook_of_modules_is_in_the_tables_of_torch(self):
        self.assertEqual(self.pair("hooks of modules"), ([0, 0], [0, 0]))

    def test_global_hooks_of_steps_are_in_the_tables_of_torch(self):
        self.assertEqual(self.pair("hooks of steps"), ([0, 0], [1, 1]))

    def test_once_the_program_compiles_global_hooks_are_in_the_tables(self):
        self.assertEqual(self.pair("hooks once compiled"), ([0, 0], [1, 1]))

    def test_functions_of_torch_have_other_code_and_their_modules_more_names(self):
        bare, watched = self.pair("code")
        self.assertTrue(all(one != other for one, other in zip(bare, watched)))
        bare, watched = self.pair("names in torch")
        self.assertEqual(bare, [])
        self.assertNotEqual(watched, [])

    def test_the_exit_of_a_process_is_a_function_of_python(self):
        self.assertEqual(self.pair("exit"), ("builtin_function_or_method", "function"))

    def test_the_parent_is_dlcheck(self):
        self.assertEqual(self.watched["parent"], "dlcheck")

    def test_a_module_in_a_module_takes_no_frame_more(self):
        bare, watched = self.pair("frames")
        self.assertEqual(watched, bare)

    def test_once_the_program_compiles_a_module_takes_one_frame_more(self):
        bare, watched = self.pair("frames once compiled")
        self.assertEqual([more - less for less, more in zip(bare, watched)], [1, 2, 11])

    def test_a_profile_function_sees_the_probe(self):
        bare, watched = map(set, self.pair("called"))
        self.assertEqual(watched - bare, {"dlcheck_shim"})

    def test_the_profiler_sees_more_operations(self):
        self.more("operations")

    def test_a_method_of_tensors_that_the_program_replaced_is_called_more_often(self):
        self.more("detach")

    def test_the_collector_has_more_objects(self):
        self.more("objects")

    def test_time_memory_and_disk_are_used(self):
        self.assertGreater(self.records, 0)
        bare, watched = self.pair("seconds")
        self.assertLess(watched, bare + 20)
        bare, watched = self.pair("memory")
        self.assertLess(watched, bare + (64 << 10))


if __name__ == "__main__":
    unittest.main()
