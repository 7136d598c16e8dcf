"""The kernels that pose, compiled by NVIDIA's compiler and executed lane by lane. No GPU is needed.

    python3 -m venv v && v/bin/pip install --no-deps nvidia-cuda-nvcc==13.5.37 nvidia-cuda-nvdisasm==13.5.37
    apt install clang-14 && cargo install naga-cli@30.0.1
    v/bin/python benches/sass/sass.py            # a table
    v/bin/python benches/sass/sass.py --check    # against limits.json; exits with 1 if a kernel exceeds it
    v/bin/python benches/sass/sass.py --store    # writes limits.json

NVIDIA's packages are under its own licence; nothing of them is in this repository. The tool exits with 77 if one of
them, clang or naga is missing.

`posse-isa --texts` writes each kernel with the buffers of a workgroup; naga makes Metal of it, `cuda.py` CUDA, clang
PTX, and ptxas the code of the GPU, which `machine.py` executes. Columns: instructions that warps issue, and cycles of
the load/store unit, least and most, both per 32 joints; registers; bytes of spills and of workgroup memory. A driver
has a front end of its own and checks the bounds of buffers, so that its code differs: registers of a plain kernel by
15 %, of kernels that mix by up to 33 %. The figures are for differences between kernels.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import cuda
import machine

FOLDER = pathlib.Path(__file__).parent
ROOT = FOLDER.parent.parent
LIMITS = FOLDER / "limits.json"
SKIPPED = 77
# Indices of arrays of a fixed length are checked, as in SPIR-V; those of buffers are not, because a driver's own checks
# are cheaper than naga's.
NAGA = "--metal-version 2.4 --index-bounds-check-policy Restrict --buffer-bounds-check-policy Unchecked".split()
CLANG = (
    "-x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -nocudainc -nocudalib -std=c++17 -O3 -S -w -ffp-contract=fast "
    "-freciprocal-math -fgpu-flush-denormals-to-zero -Xclang -target-feature -Xclang +ptx72 "
    "-mllvm -nvptx-prec-divf32=0 -mllvm -nvptx-prec-sqrtf32=0"
).split()


def run(command):
    """The output of a command; its errors end the program."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[0]}: {done.stderr}")
    return done.stdout + done.stderr


def tools(arguments):
    """The programs by name; a missing one ends the program."""
    found = {"clang++": arguments.clang, "naga": "naga"}
    for name in ("ptxas", "nvdisasm"):
        places = [pathlib.Path(path) / "nvidia" for path in sys.path]
        found[name] = next((file for place in places for file in place.glob(f"*/bin/{name}")), name)
    for name, program in found.items():
        try:
            subprocess.run([program, "--version"], capture_output=True, check=True)
        except OSError:
            print(f"SKIPPED: {name} is missing: see the head of {__file__}", file=sys.stderr)
            sys.exit(SKIPPED)
    return found


def bind(listing, names, buffers):
    """The constants of a launch by their places, and the memory of its buffers by their numbers in addresses."""
    constants, memory = {}, {}
    for number, name in enumerate(names, 1):
        # A pointer; the bits above an offset are the number of the buffer.
        constants[machine.PARAMETERS + 8 * number - 4] = number << machine.BUFFER - 32
        memory[number] = dict(enumerate(buffers.get(name, [])))
    offset = 0
    uniforms = listing.partition("\n.nv.constant3:")[2].partition("\n//---")[0]
    for name, size in re.findall(r"^(\w+)_c:\n\s+\.zero\s+(\d+)", uniforms, re.M):
        words = buffers.get(name, [])
        constants.update((machine.UNIFORMS + offset + 4 * index, word) for index, word in enumerate(words))
        offset += int(size)
    return constants, memory


def measure(file, folder, programs, chip):
    """The figures of a kernel, with the words of skin matrices that it writes."""
    kernel = json.loads(file.read_text())
    metal, source, ptx, cubin = (folder / f"{file.stem}.{extension}" for extension in ("metal", "cu", "ptx", "cubin"))
    wgsl = file.with_suffix(".wgsl")
    run([programs["naga"], wgsl, *NAGA, "--entry-point", kernel["entry"], "--compact", metal])
    text, names = cuda.translate(metal.read_text(), kernel["entry"], kernel["size"])
    source.write_text(text)
    run([programs["clang++"], *CLANG, source, "-o", ptx])
    report = run([programs["ptxas"], f"-arch={chip}", "-O3", "-v", ptx, "-o", cubin])
    listing = run([programs["nvdisasm"], cubin])
    (folder / f"{file.stem}.sass").write_text(listing)
    number = lambda pattern: int((re.search(pattern, report) or [0, 0])[1])
    program = machine.Program(listing)
    constants, memory = bind(listing, names, kernel["buffers"])
    lanes = machine.run_group(program, memory, constants, kernel["size"])
    share = kernel["joints"] / 32
    counts = machine.issued(program, lanes)
    figures = {
        "instructions": round(counts.total() / share),
        "wavefronts": [round(cycles / share) for cycles in machine.wavefronts(lanes)],
        "registers": number(r"Used (\d+) registers"),
        "spills": number(r"(\d+) bytes spill stores") + number(r"(\d+) bytes spill loads"),
        "shared": number(r"(\d+) bytes smem"),
    }
    skin = memory[names.index("skin_out") + 1] if "skin_out" in names else {}
    return kernel["kernel"], figures, counts, skin


def exceeded(found, limits, is_whole):
    """What is wrong with figures, by the limits: a line for each. If all kernels were measured, each limit is needed."""
    errors = []
    for name, figures in found.items():
        if name not in limits:
            errors.append(f"{name}: limits.json has no limits; --store writes them")
            continue
        for what, limit in limits[name].items():
            # A list has the least and the most.
            values = zip(figures[what], limit) if isinstance(limit, list) else [(figures[what], limit)]
            errors += [f"{name}: {value} {what}, at most {most} are allowed" for value, most in values if value > most]
    if is_whole:
        errors += [f"{name}: limits.json has it, but there is no such kernel" for name in limits if name not in found]
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", default="", help="only kernels whose name contains this text")
    parser.add_argument("--chip", default="sm_90", help="the GPU by ptxas's name: sm_75, sm_86, sm_89, sm_90, sm_120")
    parser.add_argument("--clang", default="clang++-14", help="clang++ of LLVM 14")
    parser.add_argument("--texts", type=pathlib.Path, help="a folder that posse-isa --texts has written")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the CUDA text, PTX and SASS of the kernels")
    parser.add_argument("--mix", action="store_true", help="prints the instructions of each kernel by name, too")
    parser.add_argument("--check", action="store_true", help="compares with limits.json")
    parser.add_argument("--store", action="store_true", help="writes the figures to limits.json")
    arguments = parser.parse_args()
    if arguments.store and arguments.kernel:
        parser.error("--store writes the figures of all kernels; leave --kernel out")
    programs = tools(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        texts = arguments.texts
        if texts is None:
            texts = pathlib.Path(temporary) / "texts"
            build = ["cargo", "run", "--quiet", "--locked", "--manifest-path", ROOT / "Cargo.toml", "-p", "posse-isa"]
            run([*build, "--", "--texts", texts, "--kernel", arguments.kernel])
        is_wanted = lambda file: arguments.kernel in json.loads(file.read_text())["kernel"]
        files = filter(is_wanted, sorted(texts.glob("*.json")))
        rows = [measure(file, folder, programs, arguments.chip) for file in files]
    version = re.search(r"V[\d.]+", run([programs["ptxas"], "--version"])).group()
    compiler = f"ptxas {version}, {arguments.chip}"
    found = {name: figures for name, figures, _, _ in rows}
    if arguments.store:
        lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(figures)}" for name, figures in found.items())
        LIMITS.write_text(f'{{\n  "compiler": {json.dumps(compiler)},\n  "kernels": {{\n{lines}\n  }}\n}}\n')
        return 0
    if arguments.check:
        limits = json.loads(LIMITS.read_text()) if LIMITS.exists() else {"compiler": "no compiler"}
        if limits["compiler"] != compiler:
            print(f"SKIPPED: limits.json is of {limits['compiler']}, this is {compiler}", file=sys.stderr)
            return SKIPPED
        errors = exceeded(found, limits["kernels"], is_whole=not arguments.kernel)
        for error in errors:
            print(error, file=sys.stderr)
        print(f"{len(found)} kernels, {len(errors)} errors")
        return 1 if errors else 0
    print(f"{compiler}\n\n| kernel | instructions | load/store cycles | registers | spills | shared memory |")
    print("|---|---|---|---|---|---|")
    for name, figures, counts, _ in rows:
        least, most = figures["wavefronts"]
        others = " | ".join(str(figures[what]) for what in ("registers", "spills", "shared"))
        print(f"| {name} | {figures['instructions']} | {least}-{most} | {others} |")
        if arguments.mix:
            print("   ", dict(counts.most_common()), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
