#!/usr/bin/env python3
"""Run the tests of joysticks with the kernel's own devices, in an emulated computer with the files of this one.

Needs Debian's packages `qemu-system-x86`, `linux-image-amd64` and `busybox-static`. The kernel may be unpacked
elsewhere instead of installed (`dpkg -x`), and `--prefix` says where. The emulated computer reads the files of this one
and cannot write them; its joysticks are made by uinput.
"""

from __future__ import annotations

import argparse
import lzma
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = "test/unit/test_bridge_uinput.py"
# In the order of loading; one that a kernel has built in is missing as a file.
MODULES = (
    *("virtio_ring", "virtio", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci"),
    *("netfs", "fscache", "9pnet", "9pnet_virtio", "9p", "ff-memless", "evdev", "uinput"),
)
NEEDED = ("evdev", "uinput")
MEMORY = "2G"
LONGEST = 900.0  # [s]
EXIT_MISSING = 2
# The first program: loads the modules and goes over to the files of this computer.
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /dev /new
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t devtmpfs devices /dev
for module in {modules}; do /bin/busybox insmod /modules/$module.ko || exit 1; done
share() {{ /bin/busybox mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,$3 $1 $2 || exit 1; }}
share files /new ro,cache=loose
share result /new/mnt rw
/bin/busybox mount -t proc proc /new/proc
/bin/busybox mount -t sysfs sysfs /new/sys
/bin/busybox mount -t devtmpfs devices /new/dev
for folder in /new/tmp /new/run /new/dev/shm; do
    /bin/busybox mkdir -p $folder
    /bin/busybox mount -t tmpfs memory $folder
done
/bin/busybox ifconfig lo 127.0.0.1 up
/bin/busybox chroot /new /bin/sh /mnt/run
/bin/busybox sync
/bin/busybox poweroff -f
"""


def main(arguments: list[str] | None = None) -> int:
    """Boots the computer and runs the tests in it; returns their exit status, 2 when something is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prefix", type=Path, default=Path("/"), help="folder that the kernel is unpacked in")
    parser.add_argument("tests", nargs="*", default=[TESTS], help="arguments of pytest")
    options = parser.parse_args(arguments)
    emulator, busybox = shutil.which("qemu-system-x86_64"), shutil.which("busybox")
    kernel = newest_kernel(options.prefix.resolve())
    packages = {"qemu-system-x86": emulator, "busybox-static": busybox, "linux-image-amd64": kernel}
    missing = [package for package, found in packages.items() if found is None]
    if missing or emulator is None or busybox is None or kernel is None:
        print(f"missing: sudo apt install {' '.join(missing)}", file=sys.stderr)
        return EXIT_MISSING
    with tempfile.TemporaryDirectory() as folder:
        return _boot(emulator, Path(busybox), *kernel, Path(folder), options.tests)


def newest_kernel(prefix: Path) -> tuple[Path, Path] | None:
    """Returns the newest kernel that has the modules, and their folder; None: there is none."""
    for kernel in sorted((prefix / "boot").glob("vmlinuz-*"), key=lambda file: file.stat().st_mtime, reverse=True):
        modules = prefix / "lib/modules" / kernel.name.removeprefix("vmlinuz-")
        if all(_module_file(modules, name) for name in NEEDED) and os.access(kernel, os.R_OK):
            return kernel, modules
    return None


def _module_file(modules: Path, name: str) -> Path | None:
    found = (modules / "kernel").glob(f"**/{name}.ko*")
    return next((file for file in found if file.suffix in (".ko", ".xz")), None)


def _boot(emulator: str, busybox: Path, kernel: Path, modules: Path, folder: Path, tests: list[str]) -> int:
    names = [name for name in MODULES if _module_file(modules, name) is not None]
    files = {
        "init": INIT.format(modules=" ".join(names)).encode(),
        "bin/busybox": busybox.read_bytes(),
        **{f"modules/{name}.ko": _module(modules, name) for name in names},
    }
    first, shared = folder / "first.cpio", folder / "result"
    first.write_bytes(archive(files))
    shared.mkdir()
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-v", *tests]
    variables = {"PATH": os.environ["PATH"], "HOME": "/tmp", "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    lines = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    lines += [f"cd {shlex.quote(str(ROOT))}", shlex.join(command), "echo $? > /mnt/status"]
    (shared / "run").write_text("\n".join(lines) + "\n")
    machine = [emulator, "-M", "q35", "-cpu", "max", "-m", MEMORY, "-smp", "2", "-nographic", "-no-reboot"]
    machine += [
        "-kernel",
        str(kernel),
        "-initrd",
        str(first),
        "-append",
        "console=ttyS0 quiet panic=-1",
        "-nic",
        "none",
    ]
    for tag, path, access in (("files", "/", ",readonly=on"), ("result", shared, "")):
        machine += ["-virtfs", f"local,path={path},mount_tag={tag},security_model=none,multidevs=remap{access}"]
    try:
        subprocess.run(machine, stdin=subprocess.DEVNULL, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        print(f"the emulated computer did not end in {LONGEST:g} s", file=sys.stderr)
        return 1
    status = shared / "status"
    if not status.exists():
        print("the emulated computer ended before the tests did", file=sys.stderr)
        return 1
    return int(status.read_text())


def _module(modules: Path, name: str) -> bytes:
    file = _module_file(modules, name)
    assert file is not None
    return lzma.decompress(file.read_bytes()) if file.suffix == ".xz" else file.read_bytes()


def archive(files: dict[str, bytes]) -> bytes:
    """Packs files as the kernel unpacks them at its start (cpio, "newc"); all are executable."""
    folders = sorted({str(parent) for name in files for parent in Path(name).parents} - {"."})
    entries: Iterable[tuple[str, int, bytes]] = [
        *((folder, 0o040755, b"") for folder in folders),
        *((name, 0o100755, content) for name, content in files.items()),
        ("TRAILER!!!", 0, b""),
    ]
    packed = bytearray()
    for number, (name, mode, content) in enumerate(entries, 1):
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
        packed += b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        packed += bytes(-len(packed) % 4) + content
        packed += bytes(-len(packed) % 4)
    return bytes(packed)


if __name__ == "__main__":
    sys.exit(main())
