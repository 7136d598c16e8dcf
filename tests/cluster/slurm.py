#!/usr/bin/env python3
"""The job script of examples/cluster on a Slurm of two nodes, both on 127.0.0.1.

usage: slurm.py POSSE BAKE_SBATCH

Slurm runs as an ordinary user, which is `nobody` if the test is started by root. All its files are in a temporary folder. All
processes end with the test.
"""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from motions import leftovers, outputs, write_bvh, write_library
from processes import adopt_orphans, descendants, end_descendants, end_on_signals, read, skip, wait_for

PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "ss"]
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
CONFIGURATION = """
ClusterName=posse
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
# Without the short life of credentials, a requeued task waits two minutes.
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
# Without these, Slurm listens on all addresses.
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,bf_interval=1
SlurmctldTimeout=10
SlurmdTimeout=10
SlurmdParameters=config_overrides
ReturnToService=2
JobRequeue=1
KillWait=2
{nodes}
PartitionName=all Nodes=n0,n1 Default=YES MaxTime=INFINITE State=UP
"""


# Two tasks run on each node.
ONE_CORE = ["--cpus-per-task=1"]
OPTIONS = ["--fps", "120"]
# Frames of the file that takes a while.
LONG = 40_000


def become_ordinary(posse, script):
    """Starts this test again as `nobody`, with copies of its files, if it runs as root."""
    if os.getuid() != 0:
        return
    drop = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--inh-caps=-all"]
    # Root's own Python may lie in a folder that is closed to others.
    pythons = [python for python in (sys.executable, "/usr/bin/python3") if is_usable([*drop, python])]
    if not pythons:
        skip("the job script under Slurm, which needs a Python that nobody may use")
    with tempfile.TemporaryDirectory(prefix="posse-slurm-") as folder:
        for file in [posse, script, *pathlib.Path(__file__).parent.glob("*.py")]:
            shutil.copy(file, folder)
        subprocess.run(["chown", "-R", "nobody", folder], check=True)
        names = [pathlib.Path(folder) / pathlib.Path(file).name for file in (__file__, posse, script)]
        environment = {**os.environ, "HOME": folder, "TMPDIR": folder}
        test = subprocess.Popen([*drop, pythons[0], *names], cwd=folder, env=environment)
        try:
            code = test.wait()
        finally:
            test.terminate()
            test.wait()
    sys.exit(code)


def is_usable(python):
    """Returns true if a Python of the right version starts."""
    code = "import sys; sys.exit(sys.version_info < (3, 9))"
    try:
        return subprocess.run([*python, "-c", code], capture_output=True).returncode == 0
    except OSError:
        return False


def free_ports(count):
    """Ports that nothing listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Cluster:
    """A Slurm with two nodes, in a folder."""

    def __init__(self, folder, posse, script):
        self.folder, self.posse, self.script = pathlib.Path(folder), posse, script
        self.nodes = {}
        controller, *ports = free_ports(3)
        lines = (
            f"NodeName=n{index} NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=8000"
            for index, port in enumerate(ports)
        )
        for name in ("state", "spool-n0", "spool-n1"):
            (self.folder / name).mkdir()
        user = subprocess.check_output(["id", "-un"], text=True).strip()
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(
                host=socket.gethostname(), controller_port=controller, user=user, folder=folder, nodes="\n".join(lines)
            )
        )
        (self.folder / "cgroup.conf").write_text("CgroupMountpoint=/nonexistent\n")
        self.environment = {**os.environ, "PATH": PATH, "SLURM_CONF": f"{folder}/slurm.conf"}

    def start(self):
        self.daemon("slurm", "munged", *self.munge_arguments())
        wait_for("munged", 10, (self.folder / "munge.socket").exists)
        self.daemon("slurmctld", "slurmctld", "-D")
        for node in ("n0", "n1"):
            self.start_node(node)
        wait_for("two idle nodes", 30, lambda: self.node_states() == {"n0": "IDLE", "n1": "IDLE"})

    def munge_arguments(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        places = {"socket": "munge.socket", "pid-file": "munge.pid", "log-file": "munge.log", "seed-file": "munge.seed"}
        # The folder is closed to other users, which munged warns of.
        return ["--foreground", "--force", f"--key-file={key}", *(f"--{name}={self.folder}/{file}" for name, file in places.items())]

    def start_node(self, node):
        self.nodes[node] = self.daemon(node, "slurmd", "-D", "-N", node)

    def daemon(self, log, *command):
        with open(self.folder / f"{log}.out", "ab") as out:
            return subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def call(self, *command):
        return subprocess.check_output(command, env=self.environment, text=True, cwd=self.folder, timeout=30)

    def node_states(self):
        try:
            text = self.call("scontrol", "--oneliner", "show", "nodes")
        except subprocess.CalledProcessError:
            return {}
        return dict(re.findall(r"NodeName=(\S+).*? State=([A-Z]+)", text))

    def submit(self, *arguments, posse=None):
        """Submits the job script, and returns the number of the array."""
        self.environment["POSSE"] = str(posse or self.posse)
        return self.call("sbatch", "--parsable", *arguments).strip()

    def tasks(self, array):
        """The facts of each task of an array, by its index."""
        found = {}
        for line in self.call("scontrol", "--oneliner", "show", "job", array).splitlines():
            facts = dict(field.split("=", 1) for field in line.split() if "=" in field)
            if facts.get("ArrayTaskId", "").isdigit():
                found[int(facts["ArrayTaskId"])] = facts
        return found

    def wait(self, array, seconds=60):
        """Waits until all tasks of an array have ended, and returns their facts."""
        def ended():
            tasks = self.tasks(array)
            states = {facts["JobState"] for facts in tasks.values()}
            return tasks if tasks and not states & {"PENDING", "RUNNING", "COMPLETING", "REQUEUED", "CONFIGURING"} else None
        return wait_for(f"the end of array {array}", seconds, ended)

    def logs(self):
        logs = sorted(self.folder.glob("*.log")) + sorted(self.folder.glob("*.out"))
        return "".join(f"--- {log.name}\n{log.read_text(errors='replace')[-3000:]}" for log in logs)


def listening_addresses():
    """The addresses on which processes of this test listen."""
    text = subprocess.check_output(["ss", "-H", "-tulnp"], text=True, env={**os.environ, "PATH": PATH})
    ours = descendants()
    lines = (line.split() for line in text.splitlines() if ours & {int(pid) for pid in re.findall(r"pid=(\d+)", line)})
    return [fields[4] for fields in lines]


def posse_of_task(index):
    """The process `posse bake` of a task; None if there is none."""
    wanted = {f"SLURM_ARRAY_TASK_ID={index}".encode()}
    for pid in descendants():
        if b"bake" in read(pid, "cmdline").split(b"\0") and wanted <= set(read(pid, "environ").split(b"\0")):
            return pid
    return None


def states(tasks):
    return {index: (facts["JobState"], facts["ExitCode"], int(facts["Restarts"])) for index, facts in tasks.items()}


DONE = ("COMPLETED", "0:0", 0)


def test_killed_task(cluster, local):
    """A task whose posse is killed by -9 is put back into the queue, and the outputs have the bytes of a local bake."""
    array = cluster.submit("--array=0-3", *ONE_CORE, cluster.script, "4", "library", "-o", "killed", *OPTIONS)
    os.kill(wait_for("posse of task 0", 30, lambda: posse_of_task(0)), signal.SIGKILL)
    tasks = states(cluster.wait(array))
    assert tasks == {0: ("COMPLETED", "0:0", 1), 1: DONE, 2: DONE, 3: DONE}, tasks
    assert outputs(cluster.folder / "killed") == local
    # The line of the README.
    command = [cluster.posse, "bake", "--check", cluster.folder / "killed", cluster.folder / "library", *OPTIONS]
    subprocess.run(command, check=True, capture_output=True)


def test_limits(cluster):
    """A task near its time limit runs again. One whose posse is always killed is started again three times."""
    killed = cluster.folder / "killed-posse"
    killed.write_text("#!/bin/sh\nkill -9 $$\n")
    killed.chmod(0o755)
    always = cluster.submit("--array=0", *ONE_CORE, cluster.script, "1", "mended", "-o", "none", posse=killed)
    array = cluster.submit("--array=0", *ONE_CORE, cluster.script, "1", "library", "-o", "limit", *OPTIONS)
    wait_for("posse", 30, lambda: posse_of_task(0))
    # As `--signal` of the job script does.
    cluster.call("scancel", "--batch", "--signal=USR1", f"{array}_0")
    assert states(cluster.wait(array)) == {0: ("COMPLETED", "0:0", 1)}
    assert states(cluster.wait(always)) == {0: ("FAILED", "137:0", 3)}


def test_without_requeue(cluster, local):
    """Where a task may not requeue itself and gets no variables, one whose posse is killed goes on in the same job."""
    site = ["--no-requeue", f"--export=POSSE={cluster.posse}", "--partition=all"]
    arguments = [cluster.script, "2", "library", "-o", "again", *OPTIONS]
    array = cluster.submit("--array=0-1", *ONE_CORE, *site, *arguments, posse="/nowhere/posse")
    os.kill(wait_for("posse of task 0", 30, lambda: posse_of_task(0)), signal.SIGKILL)
    tasks = states(cluster.wait(array))
    assert tasks == {0: DONE, 1: DONE}, tasks
    assert outputs(cluster.folder / "again") == local


def test_cancelled_task(cluster):
    """A task that is cancelled is not put back into the queue."""
    array = cluster.submit("--array=0", *ONE_CORE, cluster.script, "1", "library", "-o", "cancelled", *OPTIONS)
    wait_for("posse", 30, lambda: posse_of_task(0))
    cluster.call("scancel", array)
    tasks = states(cluster.wait(array))
    assert tasks[0][0] == "CANCELLED" and tasks[0][2] == 0, tasks


def test_lost_node(cluster, local):
    """The tasks of a node whose daemon is killed run on the other node."""
    # Slurm notices after some 15 seconds. Until then, the tasks of that node must not end.
    slow = cluster.folder / "slow-posse"
    slow.write_text(f'#!/bin/sh\n[ "$SLURMD_NODENAME" = n0 ] || sleep 100\nexec "{cluster.posse}" "$@"\n')
    slow.chmod(0o755)
    array = cluster.submit(
        "--array=0-3", *ONE_CORE, cluster.script, "4", "library", "-o", "lost", *OPTIONS, posse=slow
    )
    def on_n1():
        return {index for index, facts in cluster.tasks(array).items() if facts.get("BatchHost") == "n1"}
    lost = wait_for("a task on n1", 30, on_n1)
    cluster.nodes["n1"].kill()
    tasks = cluster.wait(array)
    expected = {index: ("COMPLETED", "0:0", int(index in lost)) for index in range(4)}
    assert states(tasks) == expected, (states(tasks), lost)
    assert {facts["BatchHost"] for facts in tasks.values()} == {"n0"}
    assert outputs(cluster.folder / "lost") == local
    cluster.start_node("n1")


def test_bad_input(cluster):
    """A task with a bad input ends with 2 and stays out of the queue. After the mend, it is submitted by its index alone."""
    library, out = cluster.folder / "mended", cluster.folder / "bad"
    write_library(library, [40] * 8)
    sound = bake(cluster, library, cluster.folder / "mended-local")
    damaged = sorted(library.rglob("*.bvh"))[5]
    text = damaged.read_text()
    damaged.write_text(text.replace(text[-3:], "x" + text[-2:]))
    array = cluster.submit("--array=0-3", *ONE_CORE, cluster.script, "4", "mended", "-o", "bad", *OPTIONS)
    tasks = states(cluster.wait(array))
    failed = [index for index, state in tasks.items() if state != DONE]
    assert [tasks[index] for index in failed] == [("FAILED", "2:0", 0)], tasks
    assert outputs(out) == {name: data for name, data in sound.items() if damaged.stem not in name}
    [lists] = out.glob("failed-*.jsonl")
    assert lists.name == f"failed-{failed[0]:05}.jsonl" and damaged.name in lists.read_text(), lists.read_text()

    damaged.write_text(text)
    # The line of the README.
    again = cluster.call("bash", "-c", f"squeue -hrj {array} -t F,NF,TO,OOM,CA -o %K | sort -n | paste -sd,").strip()
    assert again == str(failed[0]), again
    array = cluster.submit(f"--array={again}", *ONE_CORE, cluster.script, "4", "mended", "-o", "bad", *OPTIONS)
    tasks = states(cluster.wait(array))
    assert tasks == {failed[0]: DONE}, tasks
    assert outputs(out) == sound and not list(out.glob("failed-*")) and not leftovers(out), leftovers(out)


def bake(cluster, library, out):
    """A bake without Slurm."""
    command = [cluster.posse, "bake", str(library), "-o", str(out), *OPTIONS]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return outputs(out)


def run(folder, posse, script):
    cluster = Cluster(folder, posse, script)
    # Share 0 is the large file, which takes a while.
    write_library(cluster.folder / "library", [20 + 7 * index for index in range(24)])
    write_bvh(cluster.folder / "library" / "long.bvh", LONG, 0.5)
    local = bake(cluster, cluster.folder / "library", cluster.folder / "local")
    assert len(local) == 25
    try:
        cluster.start()
        test_killed_task(cluster, local)
        addresses = listening_addresses()
        assert len(addresses) >= 3 and all(each.startswith("127.0.0.1:") for each in addresses), addresses
        test_bad_input(cluster)
        test_without_requeue(cluster, local)
        test_cancelled_task(cluster)
        test_limits(cluster)
        test_lost_node(cluster, local)
    except BaseException:
        print(cluster.logs(), file=sys.stderr)
        raise


def main(posse, script):
    missing = [program for program in PROGRAMS if not shutil.which(program, path=PATH)]
    if missing:
        skip(f"the job script under Slurm, which needs {', '.join(missing)}")
    end_on_signals()
    become_ordinary(posse, script)
    adopt_orphans()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="posse-slurm-") as folder:
        try:
            run(folder, posse, script)
        finally:
            end_descendants()
    print(f"the job script ran under Slurm on two nodes, {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main(*map(os.path.abspath, sys.argv[1:]))
