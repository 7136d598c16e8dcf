"""Poses and times of FBX files: posse beside other readers. `python3 benches/fbx_readers.py [--times] FOLDER [ASSIMP]`

FOLDER has FBX files, ASSIMP is the shared library of assimp (the one in the package `assimp_py` will do). The packages are posse
(bindings/python) and `pip install numpy ufbx bpy==5.0.1`: `ufbx` evaluates the whole scene at a time, without baked curves and without
another unit, axes or inherit mode; `bpy` is Blender, whose importer in Python (`import_scene.fbx`) shares no code with ufbx and reads
binary files since 7.1. What a side says on stderr is a note.

Places of all joints are compared at up to 8 frames of each clip, in metres; beyond 1 m from the origin, relative to the distance.
The table has a row per program that the files are from. Times are processor times of `posse.Library` on one thread and of
`aiImportFile`, which also reads meshes, in turns within one process: medians of five rounds after a first. Small files are
read several times in a turn, by posse into one library, since a library has a fixed cost of 0.4 ms. With `--times`, only times are measured, and ASSIMP must be given.
"""

import collections
import ctypes
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

FRAMES = 8
ROUNDS = 5
# The processor time of a turn in seconds that is aimed at, and the largest number of copies of a file that are read for it.
TURN = 0.03
MAX_COPIES = 32


def frames_of(array):
    """The indices of the frames that are compared."""
    count = array["pos"].shape[0]
    return sorted({round(at * (count - 1) / (FRAMES - 1)) for at in range(FRAMES)})


def posse_side(file, folder):
    """A file per clip with the places of its joints at its frames."""
    import numpy
    import posse_animation as posse

    library = posse.Library(str(file), threads=1)
    for index, clip in enumerate(library.clips):
        poses = library.bake(index, arrays=["pos"])
        times = numpy.minimum(numpy.arange(poses.pos.shape[0]) / clip.fps, clip.duration)
        numpy.savez(folder / f"{index}.npz", pos=poses.pos, time=times, joint_names=list(poses.joint_names))
    return {"clips": len(library.clips)}


def difference(place, other):
    import numpy

    return float(numpy.linalg.norm(place - other) / max(1.0, numpy.linalg.norm(other)))


def ufbx_side(file, baked):
    """The differences from the evaluation of the whole scene. Objects of ufbx must not be freed before the scene."""
    import numpy
    import ufbx

    kept = []

    def keep(thing):
        kept.append(thing)
        return thing

    def curves(stack):
        return [
            curve
            for layer in keep(keep(stack).layers)
            for value in keep(keep(layer).anim_values)
            for curve in keep(keep(value).curves)
            if curve is not None
        ]

    scene = keep(ufbx.load_file(str(file)))
    metadata = keep(scene.metadata)
    application = keep(metadata.original_application)
    found = {
        "program": " ".join([application.vendor, application.name, metadata.creator]).strip(),
        "version": metadata.version / 1000,
        "kind": "ascii" if metadata.ascii else "binary",
        "clips": [],
    }
    settings = keep(scene.settings)
    axes, unit = keep(settings.axes), settings.unit_meters or 0.01
    turn = numpy.zeros((3, 3))
    for row, axis in enumerate([axes.right, axes.up, axes.front]):
        if int(axis) < 6:
            turn[row, int(axis) // 2] = -1 if int(axis) % 2 else 1
    if abs(numpy.linalg.det(turn)) < 0.5:
        turn = numpy.eye(3)
    order, stack = [], list(reversed(list(keep(keep(scene.root_node).children))))
    while stack:
        node = keep(stack.pop())
        order.append(node.typed_id)
        stack += reversed(list(keep(node.children)))
    stacks = [stack for stack in keep(scene.anim_stacks) if curves(stack)]
    for index, stack in enumerate(stacks):
        array, anim = numpy.load(baked / f"{index}.npz"), keep(stack.anim)
        begin = stack.time_begin
        if not begin < stack.time_end:
            begin = min((key.time for curve in curves(stack) for key in keep(keep(curve).keyframes)), default=0.0)
        names = array["joint_names"]
        joints = [at for at, name in enumerate(names) if len(names) == len(order) or not name.endswith("_scale")]
        if len(joints) != len(order):
            found["clips"].append({"name": stack.name, "error": f"{len(joints)} joints, not {len(order)}"})
            continue
        worst = (0.0, "")
        for frame in frames_of(array):
            at = keep(ufbx.evaluate_scene(scene, anim, begin + float(array["time"][frame])))
            nodes = keep(at.nodes)
            for joint, node in zip(joints, order):
                place = keep(keep(nodes[node]).node_to_world).c3
                other = turn @ [place.x, place.y, place.z] * unit
                worst = max(worst, (difference(array["pos"][frame, joint], other), str(names[joint])))
        clip = {"name": stack.name, "joints": len(order), "begin": begin, "difference": worst[0], "joint": worst[1]}
        found["clips"].append({**clip, "layers": len(keep(stack.layers)), "frames": array["pos"].shape[0]})
    return found


def blender_side(file, baked, begin):
    """The largest difference from Blender's importer, of a file with one clip of one layer."""
    import bpy
    import numpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.fbx(filepath=str(file), anim_offset=0.0, use_image_search=False)
    scene = bpy.context.scene
    rate = scene.render.fps / scene.render.fps_base
    array = numpy.load(baked / "0.npz")
    names = [str(name) for name in array["joint_names"]]
    joints = {name: at for at, name in enumerate(names) if names.count(name) == 1}
    worst, count = (0.0, ""), 0
    for frame in frames_of(array):
        at = (begin + float(array["time"][frame])) * rate
        whole = math.floor(at + 1e-6)
        scene.frame_set(whole, subframe=min(max(at - whole, 0.0), 0.999999))
        for thing in bpy.data.objects:
            places = [(thing.name, thing.matrix_world.translation)]
            if thing.type == "ARMATURE":
                places = [(bone.name, (thing.matrix_world @ bone.matrix).translation) for bone in thing.pose.bones]
            for name, (x, y, z) in places:
                if name in joints:
                    count += 1
                    other = numpy.array([x, z, -y])
                    worst = max(worst, (difference(array["pos"][frame, joints[name]], other), name))
    return {"difference": worst[0], "joint": worst[1], "places": count}


def times_side(file, library):
    """The processor seconds of reading by posse and by assimp, in turns."""
    import posse_animation as posse

    assimp = ctypes.CDLL(library)
    assimp.aiImportFile.restype = ctypes.c_void_p
    assimp.aiReleaseImport.argtypes = [ctypes.c_void_p]

    def read_by_posse(copies):
        posse.Library(*[str(file)] * copies, threads=1)

    def read_by_assimp(copies):
        for _ in range(copies):
            scene = assimp.aiImportFile(os.fsencode(file), 0)
            if not scene:
                raise ValueError("assimp does not read it")
            assimp.aiReleaseImport(scene)

    def measured(read, copies):
        start = time.process_time()
        read(copies)
        return (time.process_time() - start) / copies

    warnings.simplefilter("ignore")
    readers = [read_by_posse, read_by_assimp]
    first = max(measured(read, 1) for read in readers)
    copies = min(max(round(TURN / first), 1), MAX_COPIES)
    seconds = [[], []]
    for _ in range(ROUNDS + 1):
        for read, of_reader in zip(readers, seconds):
            of_reader.append(measured(read, copies))
    return {"times": [statistics.median(of_reader[1:]) for of_reader in seconds]}


def child(side, *arguments):
    """The result of a side in a process of its own: some crash on some files."""
    command = [sys.executable, __file__, "--side", side, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if lines else {"error": (done.stderr.strip() or f"exit {done.returncode}")[-200:]}


def run_side(side, arguments):
    if side == "posse":
        result = posse_side(pathlib.Path(arguments[0]), pathlib.Path(arguments[1]))
    elif side == "ufbx":
        result = ufbx_side(pathlib.Path(arguments[0]), pathlib.Path(arguments[1]))
    elif side == "blender":
        result = blender_side(pathlib.Path(arguments[0]), pathlib.Path(arguments[1]), float(arguments[2]))
    else:
        result = times_side(*arguments)
    print(json.dumps(result), flush=True)
    # Without the destructors of ufbx and Blender.
    os._exit(0)


PROGRAMS = ["Mixamo", "Blender", "MotionBuilder", "3ds Max", "Maya", "Unreal", "Cinema 4D", "ZBrush", "MODO", "Unity"]


def program(text):
    """The program that a file is from, as far as it says."""
    known = [name for name in PROGRAMS if name.lower() in text.lower()]
    return known[0] if known else ("FBX SDK" if "FBX SDK" in text else "others")


def compare_times(folder, assimp):
    """Prints the sum of the times of all files that both read, and the files with the largest ratios."""
    files = sorted(path for path in pathlib.Path(folder).rglob("*") if path.suffix.lower() == ".fbx")
    rows = []
    for file in files:
        found = child("times", file, assimp)
        if "times" in found:
            rows.append((file.name, *found["times"]))
        else:
            print(f"{file.name}: {found['error']}", file=sys.stderr)
    if not rows:
        return
    own, other = (sum(row[at] for row in rows) for at in (1, 2))
    ratios = sorted(row[1] / row[2] for row in rows)
    print(f"{len(rows)} files, {own:.3f} and {other:.3f} s: {own / other:.3f}; of the median file {statistics.median(ratios):.3f}")
    print(f"slower in {sum(ratio > 1 for ratio in ratios)}")
    for name, own, other in sorted(rows, key=lambda row: row[2] - row[1])[:20]:
        print(f"{own * 1e3:9.2f} {other * 1e3:9.2f} ms {own / other:6.2f}  {name}")


def main(folder, assimp=None):
    files = sorted(path for path in pathlib.Path(folder).rglob("*") if path.suffix.lower() == ".fbx")
    rows, notes = collections.defaultdict(list), []
    for file in files:
        with tempfile.TemporaryDirectory() as baked:
            own = child("posse", file, baked)
            found = child("ufbx", file, baked) if own.get("clips") else own
            if "error" in found or not own["clips"]:
                notes += [f"{file.name}: {found['error']}"] if "error" in found else []
                continue
            clips = [clip for clip in found["clips"] if "difference" in clip]
            notes += [f"{file.name}: {clip['name']}: {clip['error']}" for clip in found["clips"] if "error" in clip]
            if not clips:
                continue
            row = {"file": file.name, "clips": clips, **{key: found[key] for key in ("version", "kind")}}
            if own["clips"] == 1 and clips[0]["layers"] == 1 and found["kind"] == "binary" and found["version"] >= 7.1:
                row["blender"] = child("blender", file, baked, clips[0]["begin"])
            row.update(child("times", file, assimp) if assimp else {})
            rows[program(found["program"])].append(row)
            print(json.dumps(row), file=sys.stderr, flush=True)
    print("| program | versions | files | clips | ufbx: largest, of half | Blender: files, largest, of half | time, posse / assimp |")
    print("|---|---|---|---|---|---|---|")
    for name, files in sorted(rows.items(), key=lambda row: -len(row[1])):
        print(line(name, files))
    print(line("all", [row for files in rows.values() for row in files]))
    for note in notes:
        print(note, file=sys.stderr)


def line(name, rows):
    """A row of the table."""
    versions = sorted({row["version"] for row in rows})
    span = f"{versions[0]:.1f} to {versions[-1]:.1f}" if len(versions) > 1 else f"{versions[0]:.1f}"
    clips = [clip["difference"] for row in rows for clip in row["clips"]]
    blender = [row["blender"]["difference"] for row in rows if row.get("blender", {}).get("places")]
    times = [row["times"] for row in rows if "times" in row]
    shown = [name, span, str(len(rows)), str(len(clips)), spread(clips)]
    shown += [f"{len(blender)}: {spread(blender)}" if blender else "", ratio(times)]
    return f"| {' | '.join(shown)} |"


def spread(differences):
    return f"{max(differences):.1e}, {statistics.median(differences):.1e}" if differences else ""


def ratio(times):
    return f"{sum(own for own, _ in times) / sum(other for _, other in times):.2f}" if times else ""


if __name__ == "__main__":
    if sys.argv[1] == "--side":
        run_side(sys.argv[2], sys.argv[3:])
    if sys.argv[1] == "--times":
        sys.exit(compare_times(*sys.argv[2:]))
    main(*sys.argv[1:])
