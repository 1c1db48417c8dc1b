"""Programs of several processes, and such that become another program."""


PROGRAMS = {
    "a forked child trains, too": """
    import os
    from tiny import *
    net, optimizer = train(steps=6)
    child = os.fork()
    train(net, optimizer)
    if child:
        print("status", os.waitpid(child, 0)[1], flush=True)
    random.seed(1)  # which Python sets anew in a child
    end(net, optimizer)
    """,
    "a forked child ends at once": """
    import os
    from tiny import *
    def each(step):
        child = os.fork()
        if child == 0:
            os._exit(step % 200)
        print(os.waitpid(child, 0)[1])
    end(*train(each=each, steps=20))
    """,
    "grandchildren by a double fork": """
    import os
    from tiny import *
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        if os.fork():
            os._exit(0)
        os.setsid()
        os.write(write, digest(*train()).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(write)
    print(os.read(read, 100))
    end(*train())
    """,
    "children die by signals": """
    import os, signal
    from tiny import *
    net, optimizer = train(steps=4)
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT):
        child = os.fork()
        if child == 0:
            train(net, optimizer, steps=3)
            os.kill(os.getpid(), number)
        print(os.WTERMSIG(os.waitpid(child, 0)[1]))
    end(net, optimizer)
    """,
    "a pool of forked workers": """
    import multiprocessing
    from tiny import *
    def work(seed):
        torch.manual_seed(seed)
        return digest(*train(steps=5))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(work, range(4)))
    end(*train())
    """,
    "spawned processes": """
    import multiprocessing
    from tiny import *
    def work(queue):
        queue.put(digest(*train(steps=5)))
    if __name__ == "__main__":
        context = multiprocessing.get_context("spawn")
        queue = context.Queue()
        process = context.Process(target=work, args=(queue,))
        process.start()
        print(queue.get())
        process.join()
        print(process.exitcode)
        end(*train())
    """,
    "processes of a fork server": """
    import concurrent.futures, multiprocessing
    from tiny import *
    def work(seed):
        return digest(*train(steps=5))
    if __name__ == "__main__":
        context = multiprocessing.get_context("forkserver")
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
            print(list(pool.map(work, range(2))))
        end(*train())
    """,
    "workers of a loader draw random numbers": """
    import random
    from tiny import *
    class Noise(torch.utils.data.Dataset):
        def __len__(self):
            return 24
        def __getitem__(self, index):
            return torch.randn(6) * random.random(), index % 3
    loader = torch.utils.data.DataLoader(Noise(), 8, shuffle=True, num_workers=2)
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for epoch in range(3):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
    end(net, optimizer)
    """,
    "workers that persist, with a function at their start": """
    from tiny import *
    import os
    def start(number):
        with open(f"worker-{number}", "a") as file:
            print(torch.initial_seed() % 1000, torch.rand(1).item(), len(os.sched_getaffinity(0)) > 0, file=file)
    data = torch.utils.data.TensorDataset(torch.arange(24.0).view(24, 1).repeat(1, 6), torch.arange(24) % 3)
    torch.manual_seed(1)
    loader = torch.utils.data.DataLoader(data, 8, num_workers=2, persistent_workers=True, worker_init_fn=start)
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for epoch in range(2):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
    end(net, optimizer)
    """,
    "subprocesses by fork, vfork and a shell": """
    import os, subprocess
    from tiny import *
    def each(step):
        if step % 10 == 0:
            print(subprocess.run(["sh", "-c", f"echo {step}; exit {step}"], capture_output=True))
            print(subprocess.run("echo $0", shell=True, preexec_fn=os.setsid, capture_output=True))
            print(os.posix_spawn("/bin/true", ["true"], {}) > 0, os.wait()[1], os.system("exit 3"))
    end(*train(each=each))
    """,
    "a Python in a subprocess trains": """
    import subprocess, sys
    from tiny import *
    print(subprocess.run([sys.executable, "-c", "from tiny import *; end(*train(steps=5))"], capture_output=True))
    end(*train())
    """,
    "it starts itself again in its place": """
    import os, sys
    from tiny import *
    turn = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    end(*train(steps=4 + turn))
    if turn < 2:
        os.execv(sys.executable, [sys.executable, sys.argv[0], str(turn + 1)])
    sys.exit(turn + 7)
    """,
    "it becomes a shell in the middle of a step": """
    import os
    from tiny import *
    def each(step):
        if step == 66:
            os.execlp("sh", "sh", "-c", "echo shell $(ls | sort | tr '\\\\n' ' '); exit 9")
    train(each=each)
    """,
    "an exec fails and it goes on": """
    import os
    from tiny import *
    def each(step):
        if step in (3, 66):
            try:
                os.execv("/no/such/program", ["x"])
            except OSError as error:
                print(error)
    end(*train(each=each))
    """,
    "a thread forks while another trains": """
    import os, threading
    from tiny import *
    found = []
    def fork():
        for _ in range(5):
            child = os.fork()
            if child == 0:
                os._exit(0)
            found.append(os.waitpid(child, 0)[1])
    thread = threading.Thread(target=fork)
    thread.start()
    net, optimizer = train()
    thread.join()
    print(found)
    end(net, optimizer)
    """,
    "hooks of fork are run in their order": """
    import os
    from tiny import *
    order = []
    for name in ("one", "two"):
        os.register_at_fork(before=lambda name=name: order.append(f"before {name}"),
                            after_in_parent=lambda name=name: order.append(f"parent {name}"),
                            after_in_child=lambda name=name: order.append(f"child {name}"))
    net, optimizer = train(steps=3)
    child = os.fork()
    if child == 0:
        print(order, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    print(order)
    end(net, optimizer)
    """,
    "tensors in shared memory": """
    import torch.multiprocessing
    from tiny import *
    def work(shared):
        shared += 1
        train(steps=3)
    net = model().share_memory()
    shared = torch.zeros(5).share_memory_()
    process = torch.multiprocessing.get_context("fork").Process(target=work, args=(shared,))
    process.start()
    process.join()
    print(shared, process.exitcode)
    end(*train(net))
    """,
}
