"""Bakes made-up clips with the command given, and reads the files with other programs.

The expected numbers are computed here, with NumPy, from the keys that this script writes.
"""

import importlib
import json
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("SKIPPED: the files of posse bake in other programs, which need NumPy", file=sys.stderr)
    sys.exit()

POSSE = sys.argv[1]
FPS = 30
FRAMES = 31


def module(name):
    """A module, or nothing with a word on stderr."""
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"SKIPPED: {name}, which cannot be imported", file=sys.stderr)
        return None


def bake(*arguments):
    done = subprocess.run([POSSE, "bake", *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (arguments, done.returncode, done.stderr)


def near(found, expected, tolerance=2e-6):
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    bound = tolerance * max(1.0, np.abs(expected).max(initial=0.0))
    assert np.abs(found - expected).max(initial=0.0) <= bound, np.abs(found - expected).max()


# Quaternions are xyzw here.


def product(p, q):
    px, py, pz, pw = np.moveaxis(p, -1, 0)
    qx, qy, qz, qw = np.moveaxis(q, -1, 0)
    return np.stack(
        [
            pw * qx + px * qw + py * qz - pz * qy,
            pw * qy - px * qz + py * qw + pz * qx,
            pw * qz + px * qy - py * qx + pz * qw,
            pw * qw - px * qx - py * qy - pz * qz,
        ],
        -1,
    )


def matrix(q):
    x, y, z, w = np.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, -1) for row in rows], -2)


def same_rotations(found, expected):
    near(np.abs((found * expected).sum(-1)), np.ones(found.shape[:-1]))


def turned(vector):
    """From +Y up to +Z up."""
    return np.stack([vector[..., 0], -vector[..., 2], vector[..., 1]], -1)


class Rig:
    """Nodes with keys at every frame. Children come after parents here; the file has them in another order."""

    def __init__(self, seed, parents):
        random = np.random.default_rng(seed)
        joints = len(parents)
        self.parents = parents
        self.names = [f"joint {joint}" for joint in range(joints)]
        self.local_pos = np.broadcast_to(random.uniform(-1, 1, (joints, 3)), (FRAMES, joints, 3)).astype("f4")
        self.local_pos[:, 0] += np.linspace(0, 2, FRAMES)[:, None].astype("f4")
        # Small steps from a random start, so that a turn between frames is far below half a turn.
        steps = random.normal(0, 0.1, (FRAMES, joints, 4)).cumsum(0) + random.normal(0, 1, (joints, 4))
        self.local_quat = (steps / np.linalg.norm(steps, axis=-1, keepdims=True)).astype("f4")
        self.local_scale = np.ones((FRAMES, joints, 3), "f4")
        self.local_scale[:, -1] = [1, 2, 0.5]
        self.pose()

    def pose(self):
        """Model space: positions, products of rotations, and whole matrices."""
        shape = self.local_pos.shape[:2]
        self.pos, self.quat, self.model = np.zeros((*shape, 3)), np.zeros((*shape, 4)), np.zeros((*shape, 4, 4))
        quat = self.local_quat.astype(float)
        quat /= np.linalg.norm(quat, axis=-1, keepdims=True)
        for joint, parent in enumerate(self.parents):
            local = np.zeros((shape[0], 4, 4))
            local[:, :3, :3] = matrix(quat[:, joint]) * self.local_scale[:, joint, None, :]
            local[:, :3, 3], local[:, 3, 3] = self.local_pos[:, joint], 1
            self.model[:, joint] = local if parent < 0 else self.model[:, parent] @ local
            self.quat[:, joint] = quat[:, joint] if parent < 0 else product(self.quat[:, parent], quat[:, joint])
        self.pos = self.model[..., :3, 3]

    def glb(self, file):
        joints = len(self.parents)
        binary, views, accessors = b"", [], []

        def add(numbers, kind, **more):
            nonlocal binary
            numbers = np.ascontiguousarray(numbers, "<f4")
            views.append({"buffer": 0, "byteOffset": len(binary), "byteLength": numbers.nbytes})
            accessor = {"bufferView": len(views) - 1, "componentType": 5126, "count": len(numbers), "type": kind}
            accessors.append(accessor | more)
            binary += numbers.tobytes()
            return len(accessors) - 1

        times = np.arange(FRAMES, dtype="f4") / np.float32(FPS)
        time = add(times, "SCALAR", min=[float(times[0])], max=[float(times[-1])])
        samplers, channels = [], []
        for joint in range(joints):
            for path, keys in [("translation", self.local_pos), ("rotation", self.local_quat), ("scale", self.local_scale)]:
                output = add(keys[:, joint], "VEC4" if path == "rotation" else "VEC3")
                channels.append({"sampler": len(samplers), "target": {"node": joints - 1 - joint, "path": path}})
                samplers.append({"input": time, "output": output})
        # The first frame is the bind pose.
        inverse_bind = add(np.linalg.inv(self.model[0]).swapaxes(-1, -2), "MAT4")
        nodes = []
        for joint in reversed(range(joints)):
            children = [joints - 1 - child for child, parent in enumerate(self.parents) if parent == joint]
            nodes.append({"name": self.names[joint]} | ({"children": children} if children else {}))
        document = {
            "asset": {"version": "2.0"},
            "nodes": nodes,
            "skins": [{"joints": [joints - 1 - joint for joint in range(joints)], "inverseBindMatrices": inverse_bind}],
            "animations": [{"name": "move", "samplers": samplers, "channels": channels}],
            "accessors": accessors,
            "bufferViews": views,
            "buffers": [{"byteLength": len(binary)}],
        }
        text = json.dumps(document).encode()
        text += b" " * (-len(text) % 4)
        head = struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(binary))
        file.write_bytes(head + struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary)


def check_npz(folder, rig):
    arrays = "pos,quat,linvel,angvel,local_pos,local_quat,local_scale,skin,root"
    bake(folder / "clips", "-o", folder / "npz", "--fps", FPS, "--arrays", arrays)
    found = np.load(folder / "npz/walk.npz", allow_pickle=False)
    found = {name: found[name] for name in found.files}
    order = slice(None, None, -1)
    assert found["pos"].dtype == np.float32 and found["time"].dtype == np.float64
    near(found["time"], np.arange(FRAMES) / FPS, 1e-7)
    assert list(found["joint_names"]) == rig.names[::-1]
    joints = len(rig.parents)
    assert list(found["parents"]) == [-1 if parent < 0 else joints - 1 - parent for parent in rig.parents[::-1]]
    near(found["local_pos"], rig.local_pos[:, order])
    near(found["local_scale"], rig.local_scale[:, order])
    same_rotations(found["local_quat"], rig.local_quat[:, order])
    near(found["pos"], rig.pos[:, order])
    same_rotations(found["quat"], rig.quat[:, order])
    near(found["skin"], rig.model @ np.linalg.inv(rig.model[0]), 2e-5)
    near(found["root"], np.concatenate([found["pos"][:, 0], found["quat"][:, 0]], -1), 0)

    # Central differences, one-sided at the ends.
    before, after = np.maximum(np.arange(FRAMES) - 1, 0), np.minimum(np.arange(FRAMES) + 1, FRAMES - 1)
    seconds = ((after - before) / FPS)[:, None, None]
    near(found["linvel"], ((rig.pos[after] - rig.pos[before]) / seconds)[:, order], 1e-4)
    turn = product(rig.quat[after], rig.quat[before] * [-1, -1, -1, 1])
    turn *= np.where(turn[..., 3:] < 0, -1, 1)
    sine = np.linalg.norm(turn[..., :3], axis=-1, keepdims=True)
    vector = turn[..., :3] / np.maximum(sine, 1e-12) * 2 * np.arctan2(sine, turn[..., 3:])
    near(found["angvel"], (vector / seconds)[:, order], 1e-4)

    bake(folder / "clips", "-o", folder / "up", "--fps", FPS, "--arrays", "pos,quat,local_pos", "--up", "z", "--scale", 2.5)
    up = np.load(folder / "up/walk.npz")
    near(up["pos"], 2.5 * turned(rig.pos[:, order]))
    half = np.sqrt(0.5)
    same_rotations(up["quat"], product(np.broadcast_to([half, 0, 0, half], rig.quat.shape), rig.quat)[:, order])
    # Only roots are turned.
    is_root = (np.array(rig.parents) < 0)[:, None]
    near(up["local_pos"], 2.5 * np.where(is_root, turned(rig.local_pos), rig.local_pos)[:, order])

    bake(folder / "clips", "-o", folder / "mjlab", "--fps", FPS, "--layout", "mjlab")
    mjlab = np.load(folder / "mjlab/walk.npz")
    near(mjlab["body_pos_w"], found["pos"], 0)
    near(mjlab["body_quat_w"], found["quat"][..., [3, 0, 1, 2]], 0)
    near(mjlab["body_lin_vel_w"], found["linvel"], 0)
    near(mjlab["body_ang_vel_w"], found["angvel"], 0)
    assert mjlab["fps"].shape == (1,) and int(mjlab["fps"][0]) == FPS
    assert mjlab["joint_pos"].shape == mjlab["joint_vel"].shape == (FRAMES, 0)

    bake(folder / "clips", "-o", folder / "gmr", "--fps", FPS, "--layout", "gmr")
    gmr = np.load(folder / "gmr/walk.npz")
    near(gmr["root_pos"], found["pos"][:, 0], 0)
    near(gmr["root_rot"], found["quat"][:, 0], 0)
    to_root = np.swapaxes(matrix(found["quat"][:, 0].astype(np.float64)), -1, -2)
    local = np.einsum("fij,fnj->fni", to_root, found["pos"].astype(np.float64) - found["pos"][:, :1])
    near(gmr["local_body_pos"], local)
    assert list(gmr["link_body_list"]) == list(found["joint_names"]) and gmr["dof_pos"].shape == (FRAMES, 0)
    return found


def check_parquet(folder, found):
    for share in range(3):
        bake(folder / "pair", "-o", folder / "parquet", "--fps", FPS, "--format", "parquet", "--shard", f"{share}/3")
    files = sorted((folder / "parquet").glob("part-*.parquet"))
    assert [file.name for file in files] == [f"part-0000{share}-of-00003.parquet" for share in range(3)]

    def check(program, clips, frames, times, pos):
        rows = np.asarray(clips) == "walk"
        assert len(rows) == 2 * FRAMES and rows.sum() == FRAMES, program
        near(np.asarray(frames)[rows], np.arange(FRAMES), 0)
        near(np.asarray(times)[rows], found["time"], 0)
        near(np.asarray(pos, "f4").reshape(2 * FRAMES, -1)[rows], found["pos"].reshape(FRAMES, -1), 0)

    if module("pyarrow"):
        import pyarrow.parquet as pq

        table = pq.read_table(files)
        width = table.schema.field("pos").type.list_size
        assert width == found["pos"][0].size and table.schema.field("clip").type == "string"
        pos = table["pos"].combine_chunks().flatten().to_numpy()
        check("pyarrow", table["clip"].to_pylist(), table["frame"].to_numpy(), table["time"].to_numpy(), pos)
        metadata = {}
        for file in files:
            metadata |= pq.read_metadata(file).metadata
        facts = json.loads(metadata[b"walk"])
        assert facts["clip"] == "walk" and facts["joint_names"] == list(found["joint_names"])
    if polars := module("polars"):
        table = polars.read_parquet(files)
        check("polars", table["clip"].to_list(), table["frame"], table["time"], table["pos"].to_numpy())
    if duckdb := module("duckdb"):
        rows = duckdb.sql(f"select clip, frame, time, pos from '{folder}/parquet/*.parquet' order by clip, frame").fetchall()
        check("duckdb", *zip(*rows))


def check_packed(folder, found):
    out = folder / "packed"
    for share in range(2):
        bake(folder / "pair", "-o", out, "--fps", FPS, "--format", "packed", "--shard", f"{share}/2")
    bake("--merge", out)
    lines = [json.loads(line) for line in (out / "index.jsonl").read_text().splitlines()]
    walk = next(line for line in lines if line["clip"] == "walk")
    rows = slice(walk["first_row"], walk["first_row"] + walk["frames"])
    assert sum(line["frames"] for line in lines) == 2 * FRAMES and walk["frames"] == FRAMES
    file = out / walk["rig"]

    def check(program, tensors):
        near(tensors["pos"][rows], found["pos"], 0)
        near(tensors["quat"][rows], found["quat"], 0)
        near(tensors["time"][rows], found["time"], 0)
        assert list(tensors["parents"]) == list(found["parents"]), program

    # As the description of the format has it.
    data = file.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    assert json.loads(header.pop("__metadata__")["joint_names"]) == list(found["joint_names"])
    kinds = {"F64": "<f8", "F32": "<f4", "I32": "<i4", "BOOL": "?"}

    def mapped(tensor):
        return np.memmap(file, kinds[tensor["dtype"]], "r", start + tensor["data_offsets"][0], tuple(tensor["shape"]))

    check("NumPy", {name: mapped(tensor) for name, tensor in header.items()})
    if safetensors := module("safetensors.numpy"):
        check("safetensors", safetensors.load_file(file))


def check_glb(folder, found):
    for name, options in [("glb", []), ("glb-up", ["--up", "z", "--scale", "2.5"])]:
        bake(folder / "all", "-o", folder / name, "--format", "glb", *options)
    # The animation of the file, baked once more, is the same.
    bake(folder / "glb", "-o", folder / "again", "--fps", FPS, "--arrays", "pos,quat,skin")
    again = np.load(folder / "again/walk.npz")
    near(again["pos"], found["pos"])
    near(again["skin"], found["skin"], 2e-5)
    same_rotations(again["quat"], found["quat"])

    script = """
        const validator = require("gltf-validator"), fs = require("fs");
        const all = process.argv.slice(1).map(async file => {
            const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)));
            return [file, report.issues.messages.filter(message => message.severity < 2)];
        });
        Promise.all(all).then(all => console.log(JSON.stringify(all)));
    """
    node = shutil.which("node")
    if not node or subprocess.run([node, "-e", "require('gltf-validator')"], capture_output=True).returncode:
        print("SKIPPED: the Khronos glTF validator, which needs node and npm", file=sys.stderr)
        return
    files = sorted([*(folder / "glb").glob("*.glb"), *(folder / "glb-up").glob("*.glb")])
    assert len(files) == 6
    report = subprocess.run([node, "-e", script, *map(str, files)], capture_output=True, text=True, check=True, timeout=120)
    for file, messages in json.loads(report.stdout):
        assert not messages, (file, messages)


def check_usda(folder, found, rig):
    if not module("pxr"):
        return
    from pxr import Usd, UsdGeom, UsdSkel

    def open_skeleton(file, prim="Skeleton"):
        stage = Usd.Stage.Open(str(file))
        skeleton = next(prim for prim in stage.Traverse() if prim.IsA(UsdSkel.Skeleton))
        query = UsdSkel.Cache().GetSkelQuery(UsdSkel.Skeleton(skeleton))
        valid, reason = query.GetTopology().Validate()
        assert valid, reason
        return stage, query

    for name, up, scale in [("usda", "Y", 1.0), ("usda-up", "Z", 2.5)]:
        bake(folder / "all", "-o", folder / name, "--format", "usda", "--fps", FPS, "--up", up.lower(), "--scale", scale)
        stage, query = open_skeleton(folder / name / "walk.usda")
        assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0, FRAMES - 1)
        assert stage.GetTimeCodesPerSecond() == FPS and UsdGeom.GetStageMetersPerUnit(stage) == 1
        assert UsdGeom.GetStageUpAxis(stage) == up and stage.GetDefaultPrim()
        facts = json.loads(stage.GetRootLayer().customLayerData["posse"])
        assert facts["clip"] == "walk"
        joints = [joint.rsplit("/", 1)[-1] for joint in query.GetJointOrder()]
        order = [joints.index(joint.replace(" ", "_")) for joint in rig.names]
        for frame in range(FRAMES):
            # USD's matrices are for row vectors.
            transforms = np.array(query.ComputeJointSkelTransforms(frame)).swapaxes(-1, -2)[order]
            pos, linear = rig.pos[frame], rig.model[frame, :, :3, :3]
            if up == "Z":
                pos, linear = turned(pos), np.stack([linear[:, 0], -linear[:, 2], linear[:, 1]], 1)
            near(transforms[:, :3, 3], scale * pos, 1e-5)
            # Scales are numbers of 16 bits in USD; those of this rig are exact.
            near(transforms[:, :3, :3], linear, 1e-5)
        # The file of a BVH and of another rig.
        for other in ["run", "march"]:
            open_skeleton(folder / name / f"{other}.usda")
    same_rotations(found["quat"], rig.quat[:, ::-1])


def check_crowd(folder):
    if not module("pxr"):
        return
    from pxr import Usd, UsdSkel

    layers = [{"clip": "move", "wrap": "normal"}]
    crowd = {"files": ["clips/walk.glb"], "instances": [{"file": 0, "count": 3, "spread": {"start": [0, 0.5]}, "layers": layers}]}
    (folder / "crowd.json").write_text(json.dumps(crowd))
    bake(folder / "crowd.json", "-o", folder / "crowd", "--format", "usda", "--fps", FPS)
    stage = Usd.Stage.Open(str(folder / "crowd/crowd.usda"))
    skeletons = [prim for prim in stage.Traverse() if prim.IsA(UsdSkel.Skeleton)]
    assert len(skeletons) == 3 and stage.GetTimeCodesPerSecond() == FPS
    # Each character stands as in its own array, whose joints are in the order of the file.
    bake(folder / "crowd.json", "-o", folder / "crowd-npz", "--fps", FPS)
    starts = []
    for index, skeleton in enumerate(skeletons):
        query = UsdSkel.Cache().GetSkelQuery(UsdSkel.Skeleton(skeleton))
        found = np.load(folder / f"crowd-npz/crowd#{index}.npz")
        joints = [joint.rsplit("/", 1)[-1] for joint in query.GetJointOrder()]
        order = [joints.index(joint.replace(" ", "_")) for joint in found["joint_names"]]
        assert stage.GetEndTimeCode() == len(found["time"]) - 1
        for frame in range(0, len(found["time"]), 5):
            near(np.array(query.ComputeJointSkelTransforms(frame))[order, 3, :3], found["pos"][frame], 1e-5)
        starts.append(found["pos"][10])
    assert not np.allclose(starts[0], starts[2])


def write_bvh(file):
    lines = [
        "HIERARCHY",
        "ROOT Hips",
        "{",
        "OFFSET 0 0 0",
        "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation",
        "JOINT Chest",
        "{",
        "OFFSET 0 10 0",
        "CHANNELS 3 Zrotation Xrotation Yrotation",
        "End Site",
        "{",
        "OFFSET 0 5 0",
        "}",
        "}",
        "}",
        "MOTION",
        f"Frames: {FRAMES}",
        f"Frame Time: {1 / FPS}",
        *(f"{frame} 90 0 {frame} {2 * frame} 0 0 {3 * frame} 0" for frame in range(FRAMES)),
    ]
    file.write_text("\n".join(lines) + "\n")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ["clips", "pair", "all"]:
            (folder / part).mkdir()
        rig = Rig(1, [-1, 0, 1, 1, -1, 2])
        for part in ["clips", "pair", "all"]:
            rig.glb(folder / part / "walk.glb")
        Rig(2, [-1, 0, 1, 1, -1, 2]).glb(folder / "pair/run.glb")
        Rig(3, [-1, 0]).glb(folder / "all/run.glb")
        write_bvh(folder / "all/march.bvh")
        found = check_npz(folder, rig)
        check_parquet(folder, found)
        check_packed(folder, found)
        check_glb(folder, found)
        check_usda(folder, found, rig)
        check_crowd(folder)
    print("the files of posse bake read in other programs as expected")


main()
