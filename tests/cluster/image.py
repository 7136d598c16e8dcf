#!/usr/bin/env python3
"""The image of examples/cluster without a daemon: its program is static, and bakes in a root that has nothing else.

usage: image.py POSSE DOCKERFILE

POSSE is the command to compare with. The image is built by buildah, which needs root here; without it, the root is made by the
lines of the Dockerfile.
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


def copied(dockerfile):
    """The file of the image: its places in the checkout and in the image. The recipe of Apptainer has the same."""
    text = pathlib.Path(dockerfile).read_text()
    recipe = pathlib.Path(dockerfile).with_name("posse.def").read_text()
    assert re.findall(r"^FROM (.*)$", text, re.MULTILINE) == ["scratch"] and "\nBootstrap: scratch\n" in recipe
    [places] = re.findall(r"^COPY (\S+) (\S+)$", text, re.MULTILINE)
    assert re.findall(r"^    (\S+) (\S+)$", recipe, re.MULTILINE) == [places]
    return places


def build(dockerfile, folder):
    """The root of the image, as buildah makes it without a daemon and a network; None if it cannot."""
    if os.getuid() != 0 or not shutil.which("buildah"):
        print("SKIPPED: the build of the image, which needs buildah and root", file=sys.stderr)
        return None
    policy = folder / "policy.json"
    policy.write_text('{"default": [{"type": "insecureAcceptAnything"}]}')
    buildah = ["buildah", "--storage-driver=vfs", f"--root={folder}/storage", f"--runroot={folder}/run"]
    signatures = f"--signature-policy={policy}"
    command = [*buildah, "bud", signatures, "--isolation=chroot", f"--file={dockerfile}", "--tag=posse", "."]
    subprocess.run(command, check=True, capture_output=True)
    container = subprocess.check_output([*buildah, "from", signatures, "localhost/posse"], text=True).strip()
    mounted = subprocess.check_output([*buildah, "mount", container], text=True).strip()
    return shutil.copytree(mounted, folder / "root")


def main(posse, dockerfile):
    source, place = copied(dockerfile)
    program = pathlib.Path(source)
    assert interpreters(program) == 0, f"{source} is not static"
    with tempfile.TemporaryDirectory(prefix="posse-image-") as folder:
        folder = pathlib.Path(folder)
        root = build(dockerfile, folder)
        if root is None:
            root = folder / "root"
            inside = root / place.lstrip("/")
            inside.parent.mkdir(parents=True)
            shutil.copy(program, inside)
        files = [f"/{path.relative_to(root)}" for path in root.rglob("*") if path.is_file()]
        assert files == [place], files
        write_library(root / "motions", [40 + 7 * index for index in range(12)])
        command = [posse, "bake", root / "motions", "-o", folder / "local", *OPTIONS]
        subprocess.run(command, check=True, capture_output=True)
        unshare = ["unshare"] if os.getuid() == 0 else ["unshare", "--map-root-user"]
        if subprocess.run([*unshare, "true"], capture_output=True).returncode != 0:
            print("SKIPPED: the static command in an empty root, which this user may not enter", file=sys.stderr)
            return
        bake = [*unshare, f"--root={root}", place, "bake", "/motions", "-o", "/baked", *OPTIONS]
        subprocess.run(bake, check=True, capture_output=True)
        found = outputs(root / "baked")
        assert found == outputs(folder / "local") and len(found) == 12
    print(f"the image has one file of {program.stat().st_size / 1e6:.1f} MB, which needs no other")


if __name__ == "__main__":
    main(*sys.argv[1:])
