"""Where the files are that an experiment writes: shadows in its run folder, so that the program's
own files stay as they were.

Knows which shadow stands for which path, which paths the experiment has removed, and what it has
made for itself. An original is read, and never written, moved or removed. The folder of shadows
mirrors the tree, so that a folder can be listed as the program would have left it.
"""

import errno
import os
import shutil
import stat
import tempfile

# Copying a data set only because somebody opened it to read and write would fill the disk.
MOST_COPIED_BYTES = 1 << 30
REAL = {name: getattr(os, name) for name in ("stat", "lstat", "unlink", "replace", "rmdir")}


def caches():
    """Where compilers and hubs keep what they can make again; they give its paths to others."""
    home, temporary = os.path.expanduser("~"), tempfile.gettempdir()
    chosen = [os.environ.get(name) for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")]
    folders = [os.path.join(home, ".cache"), os.path.join(home, ".triton"), *filter(None, chosen)]
    inductor = os.path.join(temporary, "torchinductor_")
    return [os.path.abspath(folder) + os.sep for folder in folders] + [inductor]


def missing(path):
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


class ShadowFiles:
    def __init__(self, run_folder, tell, refuse):
        """`tell` takes each path that is redirected, `refuse` why the experiment must end."""
        self.folder = os.path.join(os.path.abspath(run_folder), "redirected")
        self.free = (os.path.abspath(run_folder) + os.sep, "/dev/", "/proc/", *caches())
        self.tell, self.refuse = tell, refuse
        self.table = {}  # path -> its shadow, or None where it was removed
        self.made = {}  # files and folders that this experiment made -> the process that did

    def key(self, path):
        """The full path; None for what is no path, and where writing harms nobody."""
        if isinstance(path, int):
            return None
        try:
            full = os.path.abspath(os.fsdecode(path))
        except TypeError:
            return None
        is_free = full.startswith(self.free) and not full.startswith("/dev/shm/")
        return None if is_free else full

    def current(self, path):
        """Where the content of a path is now. Raises FileNotFoundError for a removed one."""
        key = self.key(path)
        if key not in self.table:
            return path
        if self.table[key] is None:
            raise missing(path)
        return self.table[key]

    def to_write(self, path, keep=False, create=True):
        """Where to write instead; `keep` when what the file holds already counts."""
        key = self.key(path)
        if key is None or key in self.made:
            return path
        if self.table.get(key) is not None:
            return self.table[key]
        there = None if key in self.table else real_status(key)
        if there is not None and not stat.S_ISREG(there.st_mode):
            return path
        if there is None and not create:
            raise missing(path)
        if there is not None and keep and there.st_size > MOST_COPIED_BYTES:
            self.refuse(f"the program changes {key} in place, which is too large to copy")
        shadow = self.place(path, key)
        if there is not None and keep:
            shutil.copyfile(key, shadow)
        self.table[key] = shadow
        self.tell(key)
        return shadow

    def place(self, path, key):
        """The path of a shadow, in a folder that is there if the program's own is."""
        if not os.path.isdir(os.path.dirname(key)):
            raise missing(path)
        shadow = self.folder + key
        os.makedirs(os.path.dirname(shadow), exist_ok=True)
        return shadow

    def remove(self, path):
        key = self.key(path)
        content = self.current(path)
        if key is None or key in self.made:
            REAL["unlink"](path)
            self.made.pop(key, None)
            return
        if content is not path:
            REAL["unlink"](content)
        elif stat.S_ISDIR(REAL["lstat"](path).st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        self.table[key] = None
        self.tell(key)

    def move(self, source, target):
        start, end = self.key(source), self.key(target)
        content = self.current(source)
        if stat.S_ISDIR(REAL["stat"](content).st_mode):
            self.refuse(f"the program renames the folder {start}")
        place = target if end is None or end in self.made else self.place(target, end)
        if content is source and start is not None and start not in self.made:
            shutil.copyfile(content, place)
        else:
            move_really(content, place)
        if start is not None:
            self.made.pop(start, None)
            self.table[start] = None
        if place is not target:
            self.table[end] = place
            self.tell(end)

    def remove_folder(self, path):
        """A folder that is not ours stays, and is hidden; its files were removed before."""
        key = self.key(path)
        if os.listdir(path):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
        if key in self.made:
            try:
                REAL["rmdir"](path)
                del self.made[key]
                return
            except OSError:
                pass
        self.table[key] = None

    def clear(self):
        """At the end: takes away what this process made for itself outside the run folder."""
        for path, process in reversed(self.made.items()):
            if process == os.getpid():
                try:
                    REAL["rmdir" if os.path.isdir(path) else "unlink"](path)
                except OSError:
                    pass
        self.made.clear()


def real_status(path):
    try:
        return REAL["stat"](path)
    except OSError:
        return None


def move_really(source, target):
    try:
        REAL["replace"](source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        shutil.copyfile(source, target)
        REAL["unlink"](source)
