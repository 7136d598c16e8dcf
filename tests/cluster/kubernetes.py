#!/usr/bin/env python3
"""The manifest of examples/cluster without a cluster: its schema, and its command for each index.

usage: kubernetes.py POSSE JOB_YAML

It needs the packages `kubernetes-validate` and `PyYAML`.
"""

import pathlib
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import yaml

from motions import leftovers, outputs, write_bvh, write_library
from processes import adopt_orphans, end_descendants, end_on_signals


def check_manifest(job):
    """The values that the schema does not restrict."""
    spec, pod = job["spec"], job["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job")
    assert spec["completionMode"] == "Indexed"
    # Kubernetes accepts a limit per index and a failure policy with this restart policy alone.
    assert pod["restartPolicy"] == "Never"
    assert 0 < spec["parallelism"] <= spec["completions"]
    assert spec["backoffLimitPerIndex"] == 3 and "backoffLimit" not in spec
    [on_exit, on_disruption] = spec["podFailurePolicy"]["rules"]
    assert on_exit["action"] == "FailIndex" and on_disruption["action"] == "Ignore"
    assert on_exit["onExitCodes"] == {"containerName": container["name"], "operator": "In", "values": [2]}
    assert on_disruption["onPodConditions"] == [{"type": "DisruptionTarget"}]
    shares = container["command"][container["command"].index("--shards") + 1]
    assert shares == str(spec["completions"]), "the number of shares differs from that of indexes"
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
    assert all(isinstance(argument, str) for argument in container["command"])


class Job:
    """The command of a manifest, run per index as Kubernetes does."""

    def __init__(self, manifest, posse, folders):
        self.spec = manifest["spec"]
        [container] = self.spec["template"]["spec"]["containers"]
        mounts = {mount["mountPath"]: folders[mount["name"]] for mount in container["volumeMounts"]}
        program, *arguments = container["command"]
        assert program == "posse"
        self.command = [posse, *(str(mounts.get(argument, argument)) for argument in arguments)]
        [on_exit, _] = self.spec["podFailurePolicy"]["rules"]
        self.fatal = on_exit["onExitCodes"]["values"]
        # The number of runs of each index, of those that were killed, and the seconds of the last one.
        self.runs, self.kills, self.seconds = {}, {}, {}

    def run(self, moments=None):
        """Runs all indexes in a random order, two at a time. Returns the indexes that failed.

        `moments` has for an index the seconds after which its runs are killed, one after the other.
        """
        indexes = list(range(self.spec["completions"]))
        random.shuffle(indexes)
        with ThreadPoolExecutor(2) as pool:
            done = list(pool.map(lambda index: self.run_index(index, list((moments or {}).get(index, []))), indexes))
        return sorted(index for index, is_done in zip(indexes, done) if not is_done)

    def run_index(self, index, moments):
        """Runs an index until it succeeds or must not be tried again. Returns true if it succeeded."""
        failures = 0
        while failures <= self.spec["backoffLimitPerIndex"]:
            self.runs[index] = self.runs.get(index, 0) + 1
            environment = {"PATH": "/usr/bin:/bin", "JOB_COMPLETION_INDEX": str(index)}
            began = time.monotonic()
            pod = subprocess.Popen(self.command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if moments:
                # A disruption, which is not a failure.
                try:
                    pod.wait(moments.pop(0))
                except subprocess.TimeoutExpired:
                    pod.kill()
                    pod.wait()
                    self.kills[index] = self.kills.get(index, 0) + 1
                    continue
            code = pod.wait()
            self.seconds[index] = time.monotonic() - began
            if code == 0 or code in self.fatal:
                return code == 0
            failures += 1
        return False


def test_kills(manifest, posse, folder):
    """Runs of each index are killed at random moments, and the outputs have the bytes of a single run."""
    motions, baked = folder / "motions", folder / "baked"
    write_library(motions, [3_000 + 70 * index for index in range(40)])
    write_bvh(motions / "long.bvh", 40_000, 0.5)
    subprocess.run([posse, "bake", motions, "-o", folder / "local", "--fps", "30"], check=True, capture_output=True)
    sound = Job(manifest, posse, {"motions": motions, "baked": folder / "sound"})
    assert sound.run() == [] and outputs(folder / "sound") == outputs(folder / "local")
    job = Job(manifest, posse, {"motions": motions, "baked": baked})
    assert job.run({index: [random.uniform(0, seconds) for _ in range(4)] for index, seconds in sound.seconds.items()}) == []
    assert sum(job.kills.values()) >= 8, job.kills
    assert outputs(baked) == outputs(folder / "local") and len(outputs(baked)) == 41
    assert not leftovers(baked), leftovers(baked)
    # Each index has a manifest, and together they list all outputs.
    assert len(list(baked.glob("manifest-*.jsonl"))) == job.spec["completions"]
    subprocess.run([posse, "bake", "--check", baked, motions, "--fps", "30"], check=True, capture_output=True)
    return job


def test_bad_input(manifest, posse, folder):
    """The index of a bad input fails without another try. After the mend, the job is applied again."""
    motions, baked = folder / "mended", folder / "mended-baked"
    write_library(motions, [30] * 20)
    damaged = sorted(motions.rglob("*.bvh"))[3]
    text = damaged.read_text()
    damaged.write_text(text.replace(text[-3:], "x" + text[-2:]))
    folders = {"motions": motions, "baked": baked}
    job = Job(manifest, posse, folders)
    [failed] = job.run()
    assert set(job.runs.values()) == {1}, job.runs
    assert len(outputs(baked)) == 19
    assert damaged.name in (baked / f"failed-{failed:05}.jsonl").read_text()
    damaged.write_text(text)
    assert Job(manifest, posse, folders).run() == []
    assert len(outputs(baked)) == 20 and not list(baked.glob("failed-*")) and not leftovers(baked)


def main(posse, manifest):
    random.seed(14)
    end_on_signals()
    adopt_orphans()
    validate = [sys.executable, "-m", "kubernetes_validate", "--strict", manifest]
    subprocess.run(validate, check=True)
    job = yaml.safe_load(pathlib.Path(manifest).read_text())
    check_manifest(job)
    with tempfile.TemporaryDirectory(prefix="posse-kubernetes-") as folder:
        try:
            kills = test_kills(job, posse, pathlib.Path(folder)).kills
            test_bad_input(job, posse, pathlib.Path(folder))
        finally:
            end_descendants()
    print(f"the manifest is valid, and its command survived {sum(kills.values())} kills")


if __name__ == "__main__":
    main(*sys.argv[1:])
