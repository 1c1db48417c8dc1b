"""A file that only this process appends to: the twin of checks/records/owned_file.h.

No descriptor is kept: a program may close all that it did not open, and get the same number for a file
of its own. So the file is opened anew for each write, and written only where it still is the one that
was made.
"""

import errno
import os

try:
    import resource
except ImportError:  # not on every system
    resource = None

from ..system import close, fallocate, fstat, ftruncate, open_, pread, pwrite

CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
WRITE = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# Of the space taken ahead, so much is left when more is asked for: a writer that gets no more can
# still say so.
SPARE_BYTES = 4096
HEAD_BYTES = 64
GONE = (errno.ENOENT, errno.ELOOP, errno.ENOTDIR)


class Changed(OSError):
    """Somebody removed, replaced or cut the file: it cannot be written again."""


class OwnedFile:
    def __init__(self, path):
        """Makes `path`. Raises FileExistsError, OSError."""
        self.path, self.size, self.reserved = path, 0, 0
        self.head = b""  # what it begins with: a removed file's number is given to a new one
        file = open_(path, CREATE, 0o600)
        try:
            info = fstat(file)
        finally:
            close(file)
        self.identity = info.st_dev, info.st_ino

    def open(self):
        try:
            file = open_(self.path, WRITE)
        except OSError as error:
            raise (Changed if error.errno in GONE else OSError)(
                f"cannot write '{self.path}': {os.strerror(error.errno)}"
            ) from None
        try:
            info = fstat(file)
            is_ours = (info.st_dev, info.st_ino) == self.identity
            # A file that was cut is ours all the same.
            is_ours = is_ours and self.head.startswith(pread(file, HEAD_BYTES, 0)[: len(self.head)])
            if is_ours and info.st_size >= self.size:
                return file
        except OSError as error:
            close(file)
            raise OSError(f"cannot read '{self.path}': {os.strerror(error.errno)}") from None
        close(file)
        raise Changed(f"'{self.path}' was {'cut' if is_ours else 'replaced'} by another program")

    def append(self, data, ahead=0):
        """Writes all of `data` behind the first `size` bytes, and gives the size that the caller sets
        where it counts as written. `ahead` as in C++. Raises OSError."""
        file = self.open()
        try:
            self.reserve(file, self.size + len(data), ahead)
            at, rest = self.size, memoryview(data)
            while rest:
                put = pwrite(file, rest, at)
                at, rest = at + put, rest[put:]
        except OSError as error:
            raise OSError(reason_of(error, self.path)) from None
        finally:
            close(file)
        if len(self.head) < HEAD_BYTES:
            self.head += bytes(data[: HEAD_BYTES - len(self.head)])
        return at

    def reserve(self, file, end, ahead):
        limit = size_limit()
        if end > limit:
            raise OSError(f"'{self.path}' has reached the limit of {limit} bytes that this process"
                          " may write (ulimit -f)")  # fmt: skip
        if not ahead or end + SPARE_BYTES <= self.reserved:
            return
        wanted = min(limit, end + max(ahead, SPARE_BYTES))
        if wanted > self.reserved and fallocate is not None:
            fallocate(file, self.reserved, wanted - self.reserved)
            self.reserved = wanted

    def give_back(self, size):
        """Space that was taken ahead of `size`. Raises OSError."""
        if self.reserved > size:
            file = self.open()
            try:
                ftruncate(file, size)
            finally:
                close(file)


def reason_of(error, path):
    return f"cannot write '{path}': {os.strerror(error.errno)}" if error.errno else str(error)


def size_limit():
    """The largest size that this process may give a file; going beyond it is a signal."""
    limit = -1 if resource is None else resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return 1 << 62 if limit < 0 else limit
