#!/usr/bin/env python3
"""The image of examples/cluster without a daemon: its program is static, and bakes in a root that has nothing else.

usage: image.py POSSE DOCKERFILE

POSSE is the command to compare with. Where there is a Docker daemon, it builds and runs the image, too.
"""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from motions import outputs, write_library

OPTIONS = ["--fps", "30"]
PT_INTERP = 3


def interpreters(program):
    """The number of loaders that a 64-bit ELF program asks for: none for a static one."""
    data = program.read_bytes()
    assert data[:6] == b"\x7fELF\x02\x01", "no 64-bit little-endian ELF program"
    (start,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    kinds = [struct.unpack_from("<I", data, start + index * size)[0] for index in range(count)]
    return kinds.count(PT_INTERP)


def copies(dockerfile):
    """The files that the image has: their places in the checkout and in the image."""
    text = pathlib.Path(dockerfile).read_text()
    assert re.findall(r"^FROM (.*)$", text, re.MULTILINE) == ["scratch"]
    return re.findall(r"^COPY (\S+) (\S+)$", text, re.MULTILINE)


def allowed(dockerignore):
    """The files that the ignore file leaves in the context."""
    lines = [line for line in pathlib.Path(dockerignore).read_text().splitlines() if line and not line.startswith("#")]
    assert lines[0] == "*"
    return [line[1:] for line in lines[1:] if line.startswith("!")]


def main(posse, dockerfile):
    [(source, place)] = copies(dockerfile)
    assert allowed(".dockerignore") == [source]
    recipe = pathlib.Path(dockerfile).with_name("posse.def").read_text()
    assert re.findall(r"^    (\S+) (\S+)$", recipe, re.MULTILINE) == [(source, place)]
    program = pathlib.Path(source)
    assert interpreters(program) == 0, f"{source} is not static"
    unshare = ["unshare"] if os.getuid() == 0 else ["unshare", "--map-root-user"]
    with tempfile.TemporaryDirectory(prefix="posse-image-") as folder:
        root = pathlib.Path(folder)
        write_library(root / "motions", [40 + 7 * index for index in range(12)])
        command = [posse, "bake", root / "motions", "-o", root / "local", *OPTIONS]
        subprocess.run(command, check=True, capture_output=True)
        expected = outputs(root / "local")
        assert len(expected) == 12
        inside = root / place.lstrip("/")
        inside.parent.mkdir(parents=True)
        shutil.copy(program, inside)
        bake = ["bake", "/motions", "-o", "/baked", *OPTIONS]
        done = subprocess.run([*unshare, f"--root={root}", place, *bake], capture_output=True, text=True)
        if "Operation not permitted" in done.stderr and not (root / "baked").exists():
            print("SKIPPED: the static command in an empty root, which this user may not enter", file=sys.stderr)
        else:
            assert done.returncode == 0, done.stderr
            assert outputs(root / "baked") == expected
        run_image(dockerfile, root, bake, expected)
    print(f"the image has one file of {program.stat().st_size / 1e6:.1f} MB, which needs no other")


def run_image(dockerfile, root, bake, expected):
    """Builds the image, and bakes in it."""
    if not shutil.which("docker") or subprocess.run(["docker", "info"], capture_output=True).returncode != 0:
        print("SKIPPED: the build of the image, which needs a Docker daemon", file=sys.stderr)
        return
    build = ["docker", "build", "--quiet", "--file", dockerfile, "."]
    image = subprocess.check_output(build, text=True).strip()
    shutil.rmtree(root / "baked", ignore_errors=True)
    user = f"{os.getuid()}:{os.getgid()}"
    volumes = [f"--volume={root}/{name}:/{name}" for name in ("motions", "baked")]
    (root / "baked").mkdir()
    subprocess.run(["docker", "run", "--rm", f"--user={user}", *volumes, image, *bake], check=True, capture_output=True)
    assert outputs(root / "baked") == expected


if __name__ == "__main__":
    main(*sys.argv[1:])
