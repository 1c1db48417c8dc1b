"""Programs that close descriptors which are not theirs, and open files of their own in their places."""

from comparing import Program

CLOSING = """
    import os

    def close_all():
        os.closerange(3, 200)

    def take_numbers(count=20):
        # Files of the program in all the numbers that are free now, left open to the very end.
        return [open(f"own-{number}", "w+b", buffering=0) for number in range(count)]

    def fill(files):
        for number, file in enumerate(files):
            file.write(bytes([number]) * 40_000)
"""


def closing(source):
    """A program that begins with these functions, and runs in every test."""
    return Program(CLOSING + source, closes=True)


PROGRAMS = {
    "descriptors closed before torch is imported": closing("""
    close_all()
    files = take_numbers()
    from tiny import *
    end(*train())
    fill(files)
    """),
    "descriptors closed after torch is imported": closing("""
    from tiny import *
    close_all()
    files = take_numbers()
    end(*train())
    fill(files)
    """),
    "descriptors closed between steps": closing("""
    from tiny import *
    files = []
    def each(step):
        if step in (1, 5, 66):
            close_all()
            files.extend(take_numbers(3))
            fill(files)
    end(*train(each=each))
    """),
    "descriptors closed in a forked child": closing("""
    from tiny import *
    net, optimizer = train(steps=5)
    import sys
    child = os.fork()
    close_all()
    files = take_numbers() if child == 0 else []
    train(net, optimizer)
    fill(files)
    random.seed(1)  # which Python sets anew in a child
    if child == 0:
        end(net, optimizer)
        sys.exit(3)
    print(os.waitpid(child, 0)[1])
    end(net, optimizer)
    """),
    "descriptors closed as it ends": closing("""
    import atexit
    from tiny import *
    end(*train())
    @atexit.register
    def last():
        close_all()
        fill(take_numbers())
    """),
    "descriptors closed by a daemon that trains": closing("""
    read, write = os.pipe()
    if os.fork():
        os.close(write)
        with os.fdopen(read) as file:
            print(file.read(), flush=True)
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)
    os.dup2(write, 1)
    os.dup2(os.open(os.devnull, os.O_RDWR), 2)
    close_all()
    files = take_numbers()
    from tiny import *
    net, optimizer = train()
    fill(files)
    end(net, optimizer)
    """),
    "a database opened after descriptors were closed": closing("""
    import sqlite3
    from tiny import *
    net, optimizer = train(steps=3)
    close_all()
    base = sqlite3.connect("base.db")
    base.execute("create table t (a integer, b blob)")
    def each(step):
        base.execute("insert into t values (?, ?)", (step, bytes(9000)))
        base.commit()
    end(*train(net, optimizer, each=each))
    print(base.execute("select count(*), sum(a) from t").fetchall(), base.execute("pragma integrity_check").fetchall())
    """),
    "every low number is put to another use": """
    import os
    from tiny import *
    def each(step):
        if step in (2, 65):
            file = os.open(f"log-{step}", os.O_CREAT | os.O_RDWR)
            for number in range(3, 64):
                os.dup2(file, number)
            os.write(40, b"x" * 5000)
    end(*train(each=each))
    """,
    "no descriptor is free while it trains": """
    import os, resource
    from tiny import *
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    taken = []
    def each(step):
        if step == 10:
            try:
                while True:
                    taken.append(os.open(os.devnull, os.O_RDONLY))
            except OSError as error:
                print(error)
        if step == 60:
            for number in taken:
                os.close(number)
    end(*train(each=each))
    print(len(taken), max(taken))
    """,
    "no descriptor is free to the end": """
    import os, resource
    from tiny import *
    net, optimizer = train(steps=3)
    resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
    taken = []
    try:
        while True:
            taken.append(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        print(error)
    end(*train(net, optimizer))
    print(len(taken))
    """,
    "counts its descriptors at each step": """
    import os
    from tiny import *
    counts = []
    net, optimizer = train(each=lambda step: counts.append(sorted(os.listdir("/proc/self/fd"))))
    end(net, optimizer, counts)
    print(counts[0], counts[-1])
    """,
    "standard streams are closed": Program("""
    import os
    for number in range(3):
        os.close(number)
    from tiny import *
    with open("result", "w") as file:  # gets number 0
        file.write(digest(*train()))
        print(file.fileno(), file=file)
    os._exit(5)
    """),
    "standard streams are closed before it starts": Program("""
    import sys
    from tiny import *
    with open("result", "w") as file:
        print(sys.stdin, sys.stdout, digest(*train()), file=file)
    """, command=("sh", "-c", 'exec "$0" "$@" <&- >&-', "{python}", "program.py")),
    "a lock on a file is held": """
    import fcntl, os
    from tiny import *
    file = open("lock", "w")
    fcntl.lockf(file, fcntl.LOCK_EX)  # lost as any descriptor of the same file is closed
    end(*train())
    child = os.fork()
    if child == 0:
        try:
            fcntl.lockf(open("lock", "w"), fcntl.LOCK_EX | fcntl.LOCK_NB)
            os._exit(1)
        except OSError:
            os._exit(2)
    print(os.waitpid(child, 0)[1])
    """,
}
