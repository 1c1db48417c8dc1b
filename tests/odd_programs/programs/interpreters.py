"""Programs that are started, or start their own code, in other ways than `python program.py`."""

from comparing import Allowed, Program

TRAINS = """
    import sys
    from tiny import *
    end(*train())
    print(sys.flags, sys.argv, __name__, sys.warnoptions, sys._xoptions)
"""
# These do not look at PYTHONPATH, so nothing of the probe is there; dlcheck says so.
UNWATCHED = """
    import os, sys
    sys.path.insert(0, os.getcwd())
    from tiny import *
    end(*train(steps=5))
    print(sys.flags)
"""


def flags(*words, source=TRAINS, **options):
    return Program(source, command=("{python}", *words, "program.py", "an argument"), **options)


PATH = Allowed("stdout", "{out}/runs/00-plain-0/boot:", "", "the probe is found by PYTHONPATH")
PATH_ALONE = Allowed("stdout", "{out}/runs/00-plain-0/boot", "None", "the probe is found by PYTHONPATH")

PROGRAMS = {
    "with -O": flags("-O"),
    "with -OO": flags("-OO"),
    "with -B, -b and -u": flags("-B", "-b", "-u"),
    "with -bb and -W error for bytes": flags("-bb", "-W", "error::BytesWarning"),
    "with -P": flags("-P", source=UNWATCHED),
    "with -I": flags("-I", source=UNWATCHED, trains=False),
    "with -E": flags("-E", source=UNWATCHED, trains=False),
    "with -S": Program("print(__import__('sys').flags)", command=("{python}", "-S", "program.py"), trains=False),
    "with -s and -q": flags("-s", "-q"),
    "with -X dev": flags("-X", "dev"),
    "with -X utf8 and frozen modules": flags("-X", "utf8", "-X", "frozen_modules=off"),
    "with -X tracemalloc and faulthandler": flags("-X", "tracemalloc=3", "-X", "faulthandler"),
    "with -X importtime": Program("""
    import sys
    sys.stderr = sys.__stderr__ = open("/dev/null", "w")
    from tiny import *
    end(*train())
    """, command=("sh", "-c", 'exec "$0" -X importtime "$@" 2>/dev/null', "{python}", "program.py")),
    "with -m and a package": Program("", command=("{python}", "-m", "package.part", "x"), files={
        "package/__init__.py": "print('package')\n",
        "package/part.py": "import sys\nfrom tiny import *\nend(*train())\n"
                           "print(__package__, __spec__.name, sys.argv[1:])\n"}),
    "with -c": Program("", command=(
        "{python}", "-c", "import sys; from tiny import *; end(*train()); print(sys.argv)")),
    "from standard input": Program("", command=("{python}", "-"), stdin=(
        "from tiny import *\nend(*train())\nprint(__file__ if '__file__' in vars() else 'none')\n")),
    "interactively": Program("", command=("{python}", "-i", "-c", "from tiny import *"),
                             stdin="end(*train())\n1 + 1\n_ + 1\nraise ValueError\n"),
    "a folder with __main__": Program("", command=("{python}", "folder"), files={
        "folder/__main__.py": "import os, sys\nsys.path.append(os.getcwd())\n"
                              "from tiny import *\nend(*train())\nprint(__name__)\n"}),
    "an archive": Program("""
    import subprocess, sys, zipfile
    with zipfile.ZipFile("program.zip", "w") as file:
        file.writestr(zipfile.ZipInfo("__main__.py"), "from tiny import *\\nend(*train())\\nprint(__file__)")
        file.writestr(zipfile.ZipInfo("tiny.py"), open("tiny.py").read())
    sys.exit(subprocess.call([sys.executable, "program.zip"]))
    """),
    "run by runpy": """
    import runpy
    open("other.py", "w").write("from tiny import *\\nend(*train())\\nvalue = 3\\n")
    found = runpy.run_path("other.py", {"given": 1}, "__main__")
    print(sorted(found))
    """,
    "code that is executed from a text": """
    source = "from tiny import *\\nend(*train())\\ndef f():\\n    return sys._getframe().f_code.co_filename\\n"
    names = {}
    exec(compile(source, "<a text>", "exec"), names)
    print(names["f"]())
    """,
    "hashes are seeded": Program(TRAINS + "\n    print(hash('a text'), list({'a', 'b', 'c', 'd'}))\n",
                                 variables={"PYTHONHASHSEED": "7"}),
    "with PYTHONPATH of its own": Program("""
    import os, other
    from tiny import *
    end(*train())
    print(os.environ["PYTHONPATH"], other.value)
    """, files={"extra/other.py": "value = 4\n"}, variables={"PYTHONPATH": "extra"}, allowed=(PATH,)),
    "with a PYTHONPATH that ends in a colon": Program("""
    import os, sys
    from tiny import *
    end(*train())
    print(os.environ["PYTHONPATH"], sys.path.count(os.getcwd()))
    """, variables={"PYTHONPATH": "extra:"}, allowed=(PATH,)),
    "it prints its PYTHONPATH": Program("""
    import os
    from tiny import *
    end(*train())
    print(os.environ.get("PYTHONPATH"))
    print(sorted(k for k in os.environ if k.startswith(("PYTHON", "OMP", "LD_", "TORCH"))))
    """, allowed=(PATH_ALONE,
                  Allowed("stdout", "'PYTHONDONTWRITEBYTECODE', 'PYTHONPATH'", "'PYTHONDONTWRITEBYTECODE'",
                          "the probe is found by PYTHONPATH"))),
    "with other variables of Python": Program(TRAINS, variables={
        "PYTHONSTARTUP": "/no/such/file", "PYTHONWARNINGS": "ignore", "PYTHONUNBUFFERED": "1", "PYTHONINSPECT": "",
        "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0", "PYTHONSAFEPATH": "", "PYTHONOPTIMIZE": "1",
        "PYTHONFAULTHANDLER": "1", "PYTHONBREAKPOINT": "0", "PYTHONPYCACHEPREFIX": "/nowhere"}),
    "with a sitecustomize of its own": Program(TRAINS + """
    print(sys.mine, "sitecustomize" in sys.modules)
    """, files={
        "extra/sitecustomize.py": "import sys\nsys.mine = __file__.rpartition('/')[2], __name__\nprint('mine')\n"},
        variables={"PYTHONPATH": "extra"}),
    "with a sitecustomize of its own that raises": Program(TRAINS, files={
        "extra/sitecustomize.py": "raise ImportError('mine is broken')\n"}, variables={"PYTHONPATH": "extra"}),
    "with a usercustomize of its own": Program(TRAINS + "\n    print(sys.modules['usercustomize'].value)\n", files={
        "extra/usercustomize.py": "value = 5\n"}, variables={"PYTHONPATH": "extra"}),
    "in several threads": """
    import threading
    from tiny import *
    results = {}
    lock = threading.Lock()
    def work(seed):
        net = nn.Linear(6, 3)
        with torch.no_grad():
            for p in net.parameters():
                p.fill_(seed / 10)
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        x, y = torch.ones(8, 6), torch.zeros(8, dtype=torch.long)
        for step in range(70):
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
        with lock:
            results[seed] = digest(net, optimizer)
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(sorted(results.items()), threading.active_count())
    end()
    """,
    "in a thread that goes on as it ends": """
    import threading, time
    from tiny import *
    net, optimizer = train(steps=5)
    def work():
        train(net, optimizer)
        end(net, optimizer)
    threading.Thread(target=work).start()
    """,
    "in a loop of asyncio": """
    import asyncio, contextvars
    from tiny import *
    variable = contextvars.ContextVar("variable")
    async def work(name):
        variable.set(name)
        net = nn.Linear(6, 3)
        with torch.no_grad():
            net.weight.fill_(0.1), net.bias.zero_()
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        for step in range(20):
            F.cross_entropy(net(torch.ones(8, 6)), torch.zeros(8, dtype=torch.long)).backward()
            await asyncio.sleep(0)
            optimizer.step()
            optimizer.zero_grad()
        return variable.get(), digest(net)
    async def main():
        loop = asyncio.get_running_loop()
        other = await loop.run_in_executor(None, lambda: digest(*train(steps=10)))
        return await asyncio.gather(work("one"), work("two")), other
    print(asyncio.run(main(), debug=True))
    """,
    "in an executor of threads": """
    import concurrent.futures
    from tiny import *
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        print(pool.submit(lambda: digest(*train())).result())
        print(type(pool.submit(F.cross_entropy, torch.ones(2), torch.ones(3)).exception()).__name__)
    end(*train())
    """,
    "with another interpreter inside": """
    from tiny import *
    import _xxsubinterpreters as interpreters
    net, optimizer = train(steps=5)
    other = interpreters.create()
    interpreters.run_string(other, "import sys, os; os.write(1, str('sitecustomize' in sys.modules).encode())")
    interpreters.destroy(other)
    end(*train(net, optimizer))
    """,
}
