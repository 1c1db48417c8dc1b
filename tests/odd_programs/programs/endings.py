"""Programs that signals interrupt, and that end in all ways."""

from comparing import Program

PROGRAMS = {
    "an alarm raises inside of anything": """
    import os, signal
    from tiny import *
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what is said of an alarm in the midst of a finalizer
    class Late(Exception):
        pass
    is_armed = False  # so that it raises in the midst of a step alone, and once in each
    def ring(number, frame):
        global is_armed
        if is_armed:
            is_armed = False
            raise Late()
    net, optimizer = train(steps=3)
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
    for turn in range(400):
        try:
            is_armed = True
            out = net(torch.ones(8, 6))
            F.cross_entropy(out, torch.zeros(8, dtype=torch.long)).backward()
            is_armed = False
        except Late:
            pass
    signal.setitimer(signal.ITIMER_REAL, 0)
    torch.manual_seed(0)
    end(*train())
    """,
    "an alarm counts": """
    import signal
    from tiny import *
    rung = []
    signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    net, optimizer = train(steps=300)
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(len(rung) > 10)
    end(net, optimizer)
    """,
    "it sends signals to itself": """
    import os, signal
    from tiny import *
    got = []
    for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT, signal.SIGCHLD):
        signal.signal(number, lambda n, frame: got.append((n, frame.f_code.co_name)))
    def each(step):
        for number in (signal.SIGUSR1, signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT):
            os.kill(os.getpid(), number)
    net, optimizer = train(each=each)
    print(len(got), sorted(set(got)))
    end(net, optimizer)
    """,
    "it waits for signals that it blocks": """
    import os, signal, threading
    from tiny import *
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGCHLD})
    net, optimizer = train(steps=3)
    os.kill(os.getpid(), signal.SIGUSR1)
    print(signal.sigpending(), signal.sigwait({signal.SIGUSR1}))
    child = os.fork()
    if child == 0:
        os._exit(3)
    print(signal.sigwaitinfo({signal.SIGCHLD}).si_status, os.waitpid(child, 0)[1])
    end(*train(net, optimizer))
    print(signal.pthread_sigmask(signal.SIG_BLOCK, set()))
    """,
    "signals wake a descriptor": """
    import os, signal
    from tiny import *
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write)
    signal.signal(signal.SIGUSR1, lambda *_: None)
    net, optimizer = train(each=lambda step: os.kill(os.getpid(), signal.SIGUSR1))
    print(len(os.read(read, 1000)), signal.set_wakeup_fd(-1) == write)
    end(net, optimizer)
    """,
    "handlers are those that Python starts with": """
    import signal
    from tiny import *
    net, optimizer = train()
    known = [number for number in signal.valid_signals() if isinstance(number, signal.Signals)]
    print({number.name: str(signal.getsignal(number)).partition(" at ")[0] for number in known})
    print(signal.pthread_sigmask(signal.SIG_BLOCK, set()), signal.getitimer(signal.ITIMER_REAL))
    end(net, optimizer)
    """,
    "its output is a pipe that nobody reads": Program("""
    import signal
    from tiny import *
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    open("begun", "w").close()
    train(each=lambda step: print("step", step, flush=True))
    open("ended", "w").close()
    """, stdout="closed pipe"),
    "its output is a pipe that nobody reads, as an error": Program("""
    from tiny import *
    train(each=lambda step: print("step", step, flush=True))
    """, stdout="closed pipe"),
    "its output is a full device": Program("""
    from tiny import *
    with open("result", "w") as file:
        print(digest(*train()), file=file)
    print("lost")
    """, stdout="/dev/full"),
    "its output is a terminal": Program("""
    import os, sys
    from tiny import *
    end(*train())
    print(os.isatty(0), os.isatty(1), os.ttyname(0) == os.ttyname(1), sys.stdout.line_buffering)
    """, stdout="terminal"),
    "it kills itself": """
    import os, signal
    from tiny import *
    train(each=lambda step: print(step, flush=True) or (step == 66 and os.kill(os.getpid(), signal.SIGKILL)))
    """,
    "it aborts": """
    import os
    from tiny import *
    end(*train(steps=5))
    os.abort()
    """,
    "it reads from nowhere": """
    import ctypes
    from tiny import *
    end(*train(steps=5))
    ctypes.string_at(0)
    """,
    "it is ended by an interrupt": """
    import os, signal
    from tiny import *
    def each(step):
        if step == 66:
            os.kill(os.getpid(), signal.SIGINT)
    train(each=each)
    """,
    "it catches an interrupt and goes on": """
    import signal
    from tiny import *
    net, optimizer = train(steps=3)
    def each(step):
        if step % 9 == 5:
            signal.raise_signal(signal.SIGINT)
    for turn in range(5):
        try:
            train(net, optimizer, each=each)
        except KeyboardInterrupt as error:
            print("interrupted", turn)
    end(net, optimizer)
    """,
    "it ends without cleaning up": """
    import atexit, os
    from tiny import *
    atexit.register(print, "never said")
    end(*train(steps=5))
    os._exit(77)
    """,
    "it exits with a text": """
    import sys
    from tiny import *
    end(*train(steps=5))
    sys.exit("a text for the error stream")
    """,
    "it exits with a large number": """
    from tiny import *
    end(*train(steps=5))
    raise SystemExit(256 + 44)
    """,
    "functions at exit raise": """
    import atexit, sys
    from tiny import *
    net, optimizer = train(steps=5)
    atexit.register(end, net, optimizer)
    @atexit.register
    def fails():
        raise ValueError("at exit")
    @atexit.register
    def leaves():
        sys.exit(9)
    """,
    "an exit in the middle of a forward": """
    import sys
    from tiny import *
    net, optimizer = train(steps=5)
    net[2].register_forward_hook(lambda *_: sys.exit(21))
    try:
        train(net, optimizer, steps=1)
    finally:
        end(net, optimizer)
    """,
    "an error in the middle of a backward": """
    from tiny import *
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            return x.clone()
        @staticmethod
        def backward(context, gradient):
            raise ZeroDivisionError("in a backward")
    net, optimizer = train()
    try:
        train(net, optimizer, loss=lambda o, y: Bad.apply(o).sum())
    except ZeroDivisionError as error:
        print(error)
    end(*train(net, optimizer))
    train(net, optimizer, loss=lambda o, y: Bad.apply(o).sum())
    """,
    "an error inside of a step is caught": """
    from tiny import *
    class Odd(torch.optim.SGD):
        turns = 0
        def step(self, closure=None):
            Odd.turns += 1
            if Odd.turns % 4 == 0:
                raise ArithmeticError(Odd.turns)
            return super().step(closure)
    net = model()
    optimizer = Odd(net.parameters(), 0.1, momentum=0.9)
    for turn in range(80):
        try:
            train(net, optimizer, steps=1)
        except ArithmeticError as error:
            print(error)
    end(net, optimizer)
    """,
    "an error that nobody catches": """
    from tiny import *
    net, optimizer = train()
    def deep(n):
        return deep(n - 1) if n else F.mse_loss(net(torch.ones(2, 6)), torch.ones(5, 4))
    deep(4)
    """,
    "a stack without an end": """
    from tiny import *
    net, optimizer = train(steps=5)
    class Deep(nn.Module):
        def forward(self, x):
            return self(x)
    try:
        Deep()(torch.ones(1))
    except RecursionError:
        print("too deep")
    end(*train(net, optimizer))
    def again():
        again()
    again()
    """,
}
