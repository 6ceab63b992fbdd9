"""Which file systems a store may lie on: WAL needs shared memory, which network and virtual ones do not keep (room.md 2.20)."""

from __future__ import annotations

import os
from pathlib import Path

REFUSED_TYPES = frozenset(
    {
        *("nfs", "nfs3", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "9p", "virtiofs", "drvfs", "vboxsf", "prl_fs", "vmhgfs"),
        *(
            "fuse",
            "fuseblk",
            "fusectl",
            "macfuse",
            "osxfuse",
            "afs",
            "afpfs",
            "webdav",
            "davfs",
            "ceph",
            "glusterfs",
            "lustre",
            "gfs2",
        ),
    }
)


def file_system_type(path: Path) -> str | None:
    """The type of the file system that holds `path` (or its nearest parent that exists); None when it cannot be told."""
    folder = os.path.realpath(path)
    best: tuple[int, str] | None = None
    for mount, kind in _mounts():
        inside = folder == mount or folder.startswith(mount.rstrip("/") + "/")
        # of two mounts on one folder the later one covers the earlier
        if inside and (best is None or len(mount) >= best[0]):
            best = (len(mount), kind)
    return best[1] if best else None


def refused(kind: str | None) -> bool:
    """Whether a store on this type of file system is refused (room.md 2.20)."""
    return kind is not None and (kind.lower() in REFUSED_TYPES or kind.lower().startswith("fuse."))


def _mounts() -> list[tuple[str, str]]:
    try:
        lines = Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return _mounts_from_psutil()
    mounts = []
    for line in lines:
        left, _, right = line.partition(" - ")
        mount = left.split(" ")[4].encode("latin-1", "surrogateescape").decode("unicode_escape", "replace")
        mounts.append((mount, right.split(" ")[0]))
    return mounts


def _mounts_from_psutil() -> list[tuple[str, str]]:
    import psutil

    return [(part.mountpoint, part.fstype) for part in psutil.disk_partitions(all=True)]
