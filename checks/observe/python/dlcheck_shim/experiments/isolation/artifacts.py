"""Keeps an experiment away from the program's files: what it writes goes to shadow files, and it
finds there what it wrote.

Covers what Python itself opens, moves, removes and lists, and torch.save. What a native library or
another program writes goes to a layer of the file system, where the system has one
(checks/observe/launcher/private_files.h).
"""

import builtins
import io
import os
import shutil

import torch

from ...torch_api.wrapping import replace
from .shadow_files import ShadowFiles

LOOKING = ("stat", "lstat", "access", "listxattr", "getxattr", "readlink")
CHANGING = ("chmod", "chown", "utime", "truncate", "setxattr")
# Python's own libraries ask these sets what a function of `os` can do.
ABILITIES = (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks,
             os.supports_effective_ids)  # fmt: skip
MOST_PATHS_TOLD = 32


class Artifacts:
    def __init__(self, recorder, refuse):
        self.recorder, self.told = recorder, []
        self.files = ShadowFiles(recorder.request.run_folder, self.tell, refuse)

    def tell(self, path):
        if path in self.told or len(self.told) > MOST_PATHS_TOLD:
            return
        self.told.append(path if len(self.told) < MOST_PATHS_TOLD else "and others")
        self.recorder.attribute(0, "redirected", ", ".join(self.told))

    def redirect(self):
        replace([builtins, io], "open", self.opening)
        self.stand_in("open", self.opening_descriptor)
        for name in LOOKING:
            self.stand_in(name, lambda original: self.elsewhere(original, self.files.current))
        for name in CHANGING:
            self.stand_in(name, lambda original: self.elsewhere(original, self.changed))
        for name in ("remove", "unlink"):
            self.stand_in(name, lambda original: self.without_folders(original, self.files.remove))
        for name in ("rename", "replace"):
            self.stand_in(name, lambda original: self.without_folders(original, self.files.move))
        self.stand_in("mkdir", self.making_folder)
        self.stand_in("rmdir", self.removing_folder)
        self.stand_in("listdir", self.listing)
        self.stand_in("scandir", self.scanning)
        replace([shutil], "rmtree", self.removing_tree)
        replace([torch, torch.serialization], "save", self.saving)
        replace([torch, torch.serialization], "load", self.loading)

    def stand_in(self, name, make):
        original = getattr(os, name, None)
        replace([os], name, make)
        for able in ABILITIES:
            if original in able:
                able.add(getattr(os, name))

    def changed(self, path):
        return self.files.to_write(path, keep=True, create=False)

    def opening(self, original):
        def open(file, mode="r", *args, **kwargs):
            if not isinstance(mode, str) or (kwargs.get("opener") and os.path.isdir(file)):
                return original(file, mode, *args, **kwargs)  # a temporary file in a folder
            if not set(mode) & set("wax+"):
                return original(self.files.current(file), mode, *args, **kwargs)
            keep = "a" in mode or "r" in mode or "x" in mode
            place = self.files.to_write(file, keep, create="r" not in mode)
            if place is not file:
                kwargs.pop("opener", None)
            return original(place, mode, *args, **kwargs)

        return open

    def opening_descriptor(self, original):
        files = self.files

        def open(path, flags, mode=0o777, *, dir_fd=None):
            if dir_fd is not None:
                return original(path, flags, mode, dir_fd=dir_fd)
            if not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC):
                return original(files.current(path), flags, mode)
            key = files.key(path)
            if flags & os.O_CREAT and flags & os.O_EXCL and key and key not in files.table:
                descriptor = original(path, flags, mode)  # a temporary file, as tempfile makes it
                files.made[key] = os.getpid()
                return descriptor
            create = bool(flags & os.O_CREAT)
            return original(files.to_write(path, not flags & os.O_TRUNC, create), flags, mode)

        return open

    def elsewhere(self, original, place):
        def call(path, *args, **kwargs):
            if kwargs.get("dir_fd") is None:
                path = place(path)
            return original(path, *args, **kwargs)

        return call

    def without_folders(self, original, instead):
        """Calls relative to an open folder are nobody's but a library's, and pass."""

        def call(*args, **folders):
            if any(folder is not None for folder in folders.values()):
                return original(*args, **folders)
            return instead(*args)

        return call

    def making_folder(self, original):
        def mkdir(path, mode=0o777, *, dir_fd=None):
            key = None if dir_fd is not None else self.files.key(path)
            if key is not None and key in self.files.table:
                if self.files.table[key] is None and os.path.isdir(os.path.dirname(key)):
                    del self.files.table[key]
                    return
            original(path, mode, dir_fd=dir_fd)
            if key is not None:
                self.files.made[key] = os.getpid()

        return mkdir

    def removing_folder(self, original):
        def rmdir(path, *, dir_fd=None):
            if dir_fd is not None or self.files.key(path) is None:
                return original(path, dir_fd=dir_fd)
            return self.files.remove_folder(path)

        return rmdir

    def removing_tree(self, original):
        def rmtree(path, *args, **kwargs):
            if self.files.key(path) is None or not os.path.isdir(path):
                return original(path, *args, **kwargs)
            for folder, folders, names in os.walk(path, topdown=False):
                links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
                for name in names + links:
                    os.remove(os.path.join(folder, name))
                os.rmdir(folder)

        return rmtree

    def listing(self, original):
        def listdir(path="."):
            if self.files.key(path) is None:
                return original(path)
            with os.scandir(path) as entries:
                return [entry.name for entry in entries]

        return listdir

    def scanning(self, original):
        def scandir(path="."):
            key = self.files.key(path)
            if key is None or not isinstance(path, (str, os.PathLike)):
                return original(path)
            with original(self.files.current(path)) as entries:
                found = [e for e in entries if os.path.join(key, e.name) not in self.files.table]
            try:
                with original(self.files.folder + key) as entries:
                    found += [e for e in entries if os.path.join(key, e.name) in self.files.table]
            except OSError:
                pass
            return Entries(found)

        return scandir

    def saving(self, original):
        def save(obj, f, *args, **kwargs):
            return original(obj, self.files.to_write(f) if is_path(f) else f, *args, **kwargs)

        return save

    def loading(self, original):
        def load(f, *args, **kwargs):
            return original(self.files.current(f) if is_path(f) else f, *args, **kwargs)

        return load


class Entries:
    """What os.scandir gives: entries to go through once, in a `with` or not."""

    def __init__(self, entries):
        self.entries = iter(entries)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.entries)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        self.entries = iter(())


def is_path(file):
    return isinstance(file, (str, os.PathLike))
