"""A file system that takes names for the same which differ in case or Unicode form only, as those of macOS and Windows do: what is
done to it is done to a folder. For tests on machines whose kernel has none.

usage: folding-file-system.py FOLDER MOUNT-POINT    (needs fusepy; stays in the foreground)
"""

import errno
import os
import sys
import unicodedata

try:
    from fusepy import FUSE, FuseOSError, Operations
except ImportError:
    from fuse import FUSE, FuseOSError, Operations


def fold(name):
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


class Folding(Operations):
    def __init__(self, root):
        self.root = root

    def real(self, path):
        """The path below the root, each component as it is spelled there."""
        at = self.root
        for part in path.strip("/").split("/"):
            if part == "":
                continue
            if not os.path.lexists(os.path.join(at, part)):
                try:
                    part = next((name for name in os.listdir(at) if fold(name) == fold(part)), part)
                except OSError as error:
                    raise FuseOSError(error.errno)
            at = os.path.join(at, part)
        return at

    def getattr(self, path, fh=None):
        s = os.lstat(self.real(path))
        names = ("atime", "ctime", "gid", "mode", "mtime", "nlink", "size", "uid", "ino")
        return {f"st_{name}": getattr(s, f"st_{name}") for name in names}

    def access(self, path, mode):
        if not os.access(self.real(path), mode, follow_symlinks=False):
            raise FuseOSError(errno.EACCES)

    def readdir(self, path, fh):
        return [".", "..", *os.listdir(self.real(path))]

    def readlink(self, path):
        return os.readlink(self.real(path))

    def mkdir(self, path, mode):
        os.mkdir(self.real(path), mode)

    def rmdir(self, path):
        os.rmdir(self.real(path))

    def unlink(self, path):
        os.unlink(self.real(path))

    def symlink(self, target, source):
        os.symlink(source, self.real(target))

    def rename(self, old, new):
        os.rename(self.real(old), self.real(new))

    def link(self, target, source):
        os.link(self.real(source), self.real(target))

    def chmod(self, path, mode):
        os.chmod(self.real(path), mode)

    def chown(self, path, uid, gid):
        os.chown(self.real(path), uid, gid, follow_symlinks=False)

    def utimens(self, path, times=None):
        os.utime(self.real(path), times, follow_symlinks=False)

    def truncate(self, path, length, fh=None):
        os.truncate(self.real(path), length)

    def open(self, path, flags):
        return os.open(self.real(path), flags)

    def create(self, path, mode, fi=None):
        return os.open(self.real(path), os.O_RDWR | os.O_CREAT, mode)

    def read(self, path, length, offset, fh):
        return os.pread(fh, length, offset)

    def write(self, path, data, offset, fh):
        return os.pwrite(fh, data, offset)

    def release(self, path, fh):
        os.close(fh)

    def flush(self, path, fh):
        return 0

    def statfs(self, path):
        s = os.statvfs(self.root)
        names = ("bavail", "bfree", "blocks", "bsize", "favail", "ffree", "files", "flag", "frsize", "namemax")
        return {f"f_{name}": getattr(s, f"f_{name}") for name in names}


if __name__ == "__main__":
    # No caching of names: one name may come to stand for another's file.
    FUSE(
        Folding(os.path.realpath(sys.argv[1])),
        sys.argv[2],
        foreground=True,
        nothreads=True,
        use_ino=True,
        attr_timeout=0,
        entry_timeout=0,
        negative_timeout=0,
    )
