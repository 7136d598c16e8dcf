#!/usr/bin/env python3
"""The Ray Data script of examples/cluster on two nodes of this machine, one of which is removed midway.

usage: ray_data.py POSSE BAKE_RAY

It needs the packages `ray[data]` and `posse`. Ray listens on the address of the machine, so that the test runs in a network
namespace that has a loopback and nothing else.
"""

import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from motions import outputs, write_bvh
from processes import adopt_orphans, descendants, end_descendants, end_on_signals, parents, read, skip, wait_for

FILES = 48
FRAMES = 6_000


def enter_namespace():
    """Starts this test again in a network namespace."""
    if os.environ.get("POSSE_NAMESPACE"):
        return
    unshare = ["unshare", "--net"] if os.getuid() == 0 else ["unshare", "--net", "--map-root-user"]
    if not shutil.which("ip") or subprocess.run([*unshare, "true"], capture_output=True).returncode != 0:
        skip("the script under Ray, which needs a network namespace of its own")
    inner = ["sh", "-c", 'ip link set lo up && exec "$@"', "sh", sys.executable, *sys.argv]
    os.execvpe(unshare[0], [*unshare, *inner], {**os.environ, "POSSE_NAMESPACE": "1"})


def below(ancestor):
    """The processes that a process started, and those that they started."""
    tree, found, added = parents(), set(), {ancestor}
    while added:
        added = {pid for pid, parent in tree.items() if parent in added} - found
        found |= added
    return found


def check_rows(folder, library, failed, npz):
    """Each clip has one row, with the numbers of `posse bake`."""
    import numpy as np
    import pyarrow.dataset

    rows = pyarrow.dataset.dataset(folder).to_table().to_pylist()
    assert sorted(row["path"] for row in rows) == sorted(str(file.relative_to(library)) for file in library.rglob("*.bvh"))
    for row in rows:
        if row["path"] == failed:
            assert row["error"] and row["pos"] is None, row
            continue
        expected = np.load(io.BytesIO(npz[row["path"].replace(".bvh", ".npz")]))
        assert row["error"] is None and row["joints"] == expected["joint_names"].tolist()
        for name in ("time", "pos", "quat", "linvel", "angvel"):
            found = np.array(row[name], dtype=expected[name].dtype).reshape(expected[name].shape)
            assert found.tobytes() == expected[name].tobytes(), (row["path"], name)


def run(folder, posse, script):
    from ray.cluster_utils import Cluster

    library, out = folder / "library", folder / "rows"
    for index in range(FILES):
        write_bvh(library / f"take{index % 3}" / f"motion {index:02}.bvh", FRAMES, index / 3)
    arrays = ["--arrays", "pos,quat,linvel,angvel", "--fps", "120"]
    subprocess.run([posse, "bake", library, "-o", folder / "local", *arrays], check=True, capture_output=True)
    npz = outputs(folder / "local")
    damaged = library / "take1" / "motion 07.bvh"
    del npz[str(damaged.relative_to(library).with_suffix(".npz"))]
    damaged.write_text(damaged.read_text()[:-40])

    node_arguments = {"num_cpus": 1, "object_store_memory": 256 << 20}
    cluster = Cluster(initialize_head=True, head_node_args={**node_arguments, "include_dashboard": False})
    try:
        second = cluster.add_node(**node_arguments)
        cluster.wait_for_nodes()
        raylet = next(pid for pid in descendants() if second.node_id.encode() in read(pid, "cmdline"))
        environment = {**os.environ, "RAY_ADDRESS": cluster.address}
        command = [sys.executable, script, library, out, "--fps", "120"]
        baking = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        def works():
            assert baking.poll() is None, "the second node had no work"
            return any(read(pid, "cmdline").startswith(b"ray::MapBatches") for pid in below(raylet))
        wait_for("work on the second node", 60, works)
        cluster.remove_node(second, allow_graceful=False)
        assert baking.poll() is None, "the second node was removed too late"
        told = baking.communicate(timeout=120)[0]
    finally:
        cluster.shutdown()
    assert baking.returncode == 2 and "motion 07.bvh: " in told, told
    check_rows(out, library, str(damaged.relative_to(library)), npz)


def main(posse, script):
    enter_namespace()
    end_on_signals()
    adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="posse-ray-") as folder:
        # Sockets of Ray have long paths below this folder.
        os.environ["RAY_TMPDIR"] = folder
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        try:
            run(pathlib.Path(folder), posse, script)
        finally:
            end_descendants()
    print(f"Ray Data baked {FILES} files, and lost none with a node")


if __name__ == "__main__":
    main(*map(os.path.abspath, sys.argv[1:]))
