"""Programs that hang functions of their own on modules, optimizers, tensors and the interpreter."""

from comparing import Allowed, Program

HOOKS = """
    import collections
    from tiny import *
    order, seen = [], collections.Counter()
    def note(name):
        def hook(*args, **kwargs):
            seen[name] += 1
            if len(order) < 300:
                order.append(name)
        return hook
"""

PROGRAMS = {
    "hooks of modules": HOOKS + """
    net = model()
    for name, module in net.named_modules():
        module.register_forward_pre_hook(note(f"before {name}"))
        module.register_forward_hook(note(f"after {name}"), always_call=True)
        module.register_full_backward_hook(note(f"backward {name}"))
        module.register_full_backward_pre_hook(note(f"before backward {name}"))
    net.register_state_dict_post_hook(note("state"))
    net.register_load_state_dict_post_hook(note("load"))
    net.load_state_dict(net.state_dict())
    end(*train(net))
    print(order, sorted(seen.items()))
    """,
    "hooks of all modules": HOOKS + """
    home = nn.modules.module
    handles = [home.register_module_forward_pre_hook(note("before")), home.register_module_forward_hook(note("after")),
               home.register_module_full_backward_hook(note("backward")),
               home.register_module_full_backward_pre_hook(note("before backward")),
               home.register_module_parameter_registration_hook(note("parameter")),
               home.register_module_module_registration_hook(note("module")),
               home.register_module_buffer_registration_hook(note("buffer"))]
    net, optimizer = train()
    for handle in handles:
        handle.remove()
    end(*train(net, optimizer))
    print(order, sorted(seen.items()))
    """,
    "hooks of optimizers": HOOKS + """
    from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
    register_optimizer_step_pre_hook(note("any before"))
    register_optimizer_step_post_hook(note("any after"))
    net = model()
    optimizer = torch.optim.AdamW(net.parameters(), 1e-2)
    optimizer.register_step_pre_hook(note("before"))
    optimizer.register_step_post_hook(note("after"))
    optimizer.register_state_dict_pre_hook(note("state"))
    optimizer.register_load_state_dict_post_hook(note("load"))
    optimizer.load_state_dict(optimizer.state_dict())
    end(*train(net, optimizer))
    print(order, sorted(seen.items()))
    """,
    "hooks of tensors and of the graph": Program(HOOKS + """
    net = model()
    for name, parameter in net.named_parameters():
        parameter.register_hook(note(f"gradient {name}"))
        parameter.register_post_accumulate_grad_hook(note(f"accumulated {name}"))
    def loss(output, target):
        output.register_hook(note("output"))
        output.grad_fn.register_hook(note("node"))
        output.grad_fn.register_prehook(note("before node"))
        value = F.cross_entropy(output, target)
        order.append(sorted(value.grad_fn.metadata))
        return value
    end(*train(net, loss=loss))
    print(order, sorted(seen.items()))
    """, allowed=(
        Allowed("stdout", "['dlcheck loss', 'dlcheck order']", "[]", "marks that live as long as their graph are in a node's metadata"),
        Allowed("stdout", "['dlcheck loss']", "[]", "the same in a step that is not sampled"),)),
    "a hook of a tensor steps the optimizer": """
    from tiny import *
    net = model()
    optimizers = {p: torch.optim.SGD([p], 0.1, foreach=False) for p in net.parameters()}
    def step(parameter):
        optimizers[parameter].step()
        optimizers[parameter].zero_grad()
    for parameter in net.parameters():
        parameter.register_post_accumulate_grad_hook(step)
    for _ in range(70):
        x, y = batch()
        F.cross_entropy(net(x), y).backward()
    end(net, [o.state_dict() for o in optimizers.values()])
    """,
    "hooks raise, and are caught": """
    from tiny import *
    net, optimizer = train(steps=3)
    turns = [0]
    def fails(*args):
        turns[0] += 1
        if turns[0] % 3 == 0:
            raise ValueError(f"turn {turns[0]}")
    net[2].register_forward_hook(fails)
    net[0].weight.register_hook(fails)
    for step in range(70):
        try:
            train(net, optimizer, steps=1)
        except ValueError as error:
            print(step, error)
    end(net, optimizer)
    """,
    "the tables of hooks are read and cleared": """
    from tiny import *
    net, optimizer = train(steps=3)
    for module in net.modules():
        print(len(module._forward_hooks), len(module._forward_pre_hooks), len(module._backward_hooks))
    print([p._backward_hooks for p in net.parameters()], optimizer._optimizer_step_post_hooks)
    for table in (nn.modules.module._global_forward_hooks, nn.modules.module._global_forward_pre_hooks):
        table.clear()
    end(*train(net, optimizer))
    """,
    "a function traces each line": """
    import sys
    from tiny import *
    seen = []
    def trace(frame, event, argument):
        if frame.f_code.co_filename.endswith("program.py"):
            seen.append((frame.f_code.co_name, frame.f_lineno, event))
            return trace
    def body():
        return train(steps=10)
    sys.settrace(trace)
    net, optimizer = body()
    sys.settrace(None)
    print(seen)
    end(net, optimizer)
    """,
    "a function is told of all calls of its own code": """
    import sys
    from tiny import *
    seen = []
    def profile(frame, event, argument):
        name = frame.f_code.co_filename.rpartition("/")[2]
        if name in ("program.py", "tiny.py"):
            seen.append((name, frame.f_code.co_name, event))
    sys.setprofile(profile)
    net, optimizer = train(steps=70)
    sys.setprofile(None)
    print(len(seen), digest(seen))
    end(net, optimizer)
    """,
    "an audit hook counts what it does": """
    import collections, sys
    seen = collections.Counter()
    on = [False]
    def audit(event, args):
        if on[0] and event in ("open", "exec", "compile", "import", "socket.connect", "subprocess.Popen"):
            seen[event, str(args[0])[-20:] if event == "open" and "dlcheck" not in str(args[0]) else ""] += 1
    sys.addaudithook(audit)
    from tiny import *
    net, optimizer = train(steps=3)
    on[0] = True
    with open("mine", "w") as file:
        file.write("x")
    exec("1 + 1")
    on[0] = False
    print(sorted(seen.items()))
    end(*train(net, optimizer))
    """,
    "finders of modules and hooks of paths": """
    import sys, importlib.abc, importlib.machinery
    class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
        asked = []
        def find_spec(self, name, path=None, target=None):
            self.asked.append(name)
            if name == "invented":
                return importlib.machinery.ModuleSpec(name, self)
        def exec_module(self, module):
            module.value = 7
    sys.meta_path.insert(0, Finder())
    import invented
    from tiny import *
    end(*train())
    print(invented.value, Finder.asked.count("torch"), Finder.asked.count("tiny"), "torch.optim" in Finder.asked)
    """,
    "torch is imported by a loader of its own": """
    import importlib.util, sys
    spec = importlib.util.find_spec("torch")
    torch = importlib.util.module_from_spec(spec)
    sys.modules["torch"] = torch
    spec.loader.exec_module(torch)
    print(type(spec.loader).__name__, "exec_module" in vars(spec.loader), torch.__spec__ is spec)
    from tiny import *
    end(*train())
    """,
    "functions at exit, in their order": """
    import atexit, threading, weakref
    class Thing:
        pass
    atexit.register(print, "first registered")
    thing = Thing()
    weakref.finalize(thing, print, "finalized")
    from tiny import *
    threading._register_atexit(print, "threads end")
    net, optimizer = train()
    atexit.register(lambda: end(net, optimizer))
    atexit.register(lambda: train(net, optimizer, steps=5))
    class Dies:
        def __del__(self):
            print("gone")
    kept = Dies()
    """,
    "hooks of uncaught errors": """
    import sys, threading
    from tiny import *
    def hook(kind, value, trace):
        names = []
        while trace:
            names.append((trace.tb_frame.f_code.co_name, trace.tb_lineno))
            trace = trace.tb_next
        print("uncaught", kind.__name__, value, names)
    sys.excepthook = hook
    threading.excepthook = lambda args: print("in a thread", args.exc_type, args.exc_value)
    sys.unraisablehook = lambda args: print("unraisable", args.exc_value)
    thread = threading.Thread(target=lambda: F.cross_entropy(torch.ones(2), torch.ones(3)))
    thread.start()
    thread.join()
    net, optimizer = train()
    class Bad:
        def __del__(self):
            raise ValueError("as it goes")
    Bad()
    end(net, optimizer)
    net(torch.ones(3, 7))
    """,
}
