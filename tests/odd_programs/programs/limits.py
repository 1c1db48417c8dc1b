"""Programs with little of something: files, memory, stack, rights, room in the path."""

import os
import resource

from comparing import Program

NOBODY = 65534


def limit(which, value):
    """What sets a limit in the process that starts the program."""
    return lambda: resource.setrlimit(which, (value, value))


def not_root():
    return "" if os.geteuid() == 0 else "only root can become another user or change the root folder"


TRAINS = """
    from tiny import *
    end(*train())
"""

PROGRAMS = {
    "a limit of open files": Program(TRAINS, prepare=limit(resource.RLIMIT_NOFILE, 48)),
    "a limit of the size of files": Program("""
    from tiny import *
    net, optimizer = train()
    try:
        with open("large", "wb") as file:
            file.write(bytes(1 << 20))
    except OSError as error:
        print(error)
    end(net, optimizer)
    """, prepare=limit(resource.RLIMIT_FSIZE, 300 << 10)),
    "a limit of the size of files, set by itself": """
    import resource, signal
    from tiny import *
    net, optimizer = train(steps=3)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    end(*train(net, optimizer))
    with open("large", "wb", buffering=0) as file:
        file.write(bytes(4096))
        file.write(bytes(1))
    """,
    "a limit of memory": Program("""
    from tiny import *
    net, optimizer = train()
    try:
        bytearray(6 << 30)
    except MemoryError:
        print("no memory")
    end(net, optimizer)
    """, prepare=limit(resource.RLIMIT_AS, 6 << 30)),
    "a limit of the stack": Program(TRAINS, prepare=limit(resource.RLIMIT_STACK, 1 << 20)),
    "no core files and few processes": Program("""
    import os, resource
    from tiny import *
    end(*train())
    print(resource.getrlimit(resource.RLIMIT_CORE), resource.getrlimit(resource.RLIMIT_NPROC))
    os.abort()
    """, prepare=lambda: [limit(resource.RLIMIT_CORE, 0)(), limit(resource.RLIMIT_NPROC, 60)()]),
    "near the limit of recursion": """
    import sys
    from tiny import *
    def at(room, call):
        # Calls with so many frames left to the limit.
        return call() if sys.getrecursionlimit() - depth() <= room + 1 else at(room, call)
    net, optimizer = train(steps=2)
    x, y = batch()
    def step():
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
        return digest(net)
    for room in range(2, 40):
        try:
            at(room, step)
            print("enough with 20 or fewer", room <= 20)
            break
        except RecursionError:
            optimizer.zero_grad()
    print(depth())
    """,
    "modules in modules near the limit of recursion": """
    import sys
    from tiny import *
    class Outer(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner
        def forward(self, x):
            return self.inner(x)
    net = nn.Linear(6, 3)
    for _ in range(200):
        net = Outer(net)
    frames = []
    net.apply(lambda module: isinstance(module, nn.Linear) and module.register_forward_hook(
        lambda *_: frames.append(depth())))
    sys.setrecursionlimit(1000)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    end(*train(net, optimizer))
    print(sorted(set(frames)))
    for limit in range(600, 700, 10):
        sys.setrecursionlimit(limit)
        try:
            net(torch.ones(1, 6))
            print("enough with", limit)
            break
        except RecursionError:
            pass
    """,
    "nice, and on one processor": Program("""
    import os
    from tiny import *
    print(os.nice(0), len(os.sched_getaffinity(0)), torch.get_num_threads())
    end(*train())
    """, prepare=lambda: (os.nice(5), os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))),
    "files for everybody": Program("""
    import os
    from tiny import *
    torch.save(train()[0].state_dict(), "net.pt")
    os.mkdir("folder")
    print(oct(os.umask(0)))
    """, prepare=lambda: os.umask(0) and None),
    "files for nobody else": Program("""
    import os
    from tiny import *
    os.umask(0o077)
    torch.save(train()[0].state_dict(), "net.pt")
    os.mkdir("folder")
    print(oct(os.umask(0)))
    """, prepare=lambda: os.umask(0o027) and None),
    "its folder is gone": """
    import os, shutil
    from tiny import *
    net, optimizer = train(steps=3)
    os.mkdir("inner")
    os.chdir("inner")
    os.rmdir("../inner")
    end(*train(net, optimizer))
    try:
        print(os.getcwd())
    except FileNotFoundError as error:
        print(error)
    """,
    "its folder changes at each step": """
    import os
    from tiny import *
    def each(step):
        os.mkdir("deeper")
        os.chdir("deeper")
    end(*train(each=each, steps=20))
    open("here", "w").close()
    """,
    "its root is another folder": Program("""
    import os
    from tiny import *
    net, optimizer = train(steps=3)
    os.mkdir("root")
    os.chroot("root")
    os.chdir("/")
    end(*train(net, optimizer))
    print(os.listdir("/"))
    """, lacking=not_root),
    "it becomes nobody": Program(f"""
    import os
    from tiny import *
    net, optimizer = train(steps=3)
    os.mkdir("own")
    os.chown("own", {NOBODY}, {NOBODY})
    os.setgroups([])
    os.setgid({NOBODY})
    os.setuid({NOBODY})
    end(*train(net, optimizer))
    torch.save(net.state_dict(), "own/net.pt")
    print(os.getuid(), os.getgid(), os.access("own", os.W_OK))
    """, lacking=not_root),
    "it may not write its folder": Program("""
    import os
    from tiny import *
    os.chmod(".", 0o555)
    os.setuid(%d)
    net, optimizer = train()
    try:
        torch.save(net.state_dict(), "net.pt")
    except (OSError, RuntimeError) as error:
        print(type(error).__name__)
    end(net, optimizer)
    """ % NOBODY, lacking=not_root, trains=False),
    "a colon in the path of its folder": Program(TRAINS, folder=b"a:b"),
    "a line break in the path of its folder": Program(TRAINS + "\n    print(__file__)\n", folder=b"a\nb c\t'd\""),
    "bytes that are no text in the path of its folder": Program("""
    from tiny import *
    end(*train())
    print(ascii(__file__))
    torch.save(1, "one.pt")
    """, folder=b"a\xff\xfeb"),
    "no folder for temporary files": Program("""
    import tempfile
    from tiny import *
    end(*train())
    print(tempfile.gettempdir() != "/no/such/folder")
    """, variables={"TMPDIR": "/no/such/folder"}),
    "no home, no PATH, no language": Program(TRAINS, command=(
        "env", "-u", "HOME", "-u", "PATH", "LC_ALL=C", "{python}", "program.py")),
    "an environment with nothing of dlcheck's": Program("""
    import os, sys, subprocess
    from tiny import *
    end(*train())
    child = [sys.executable, "-c", "import os; print(dict(os.environ))"]
    print(subprocess.run(child, env={}, capture_output=True, text=True))
    """),
}
