# SPDX-License-Identifier: Apache-2.0
"""A Slurm of one node for a test, as root, without systemd and cgroups: munged, slurmctld and slurmd as
children of this process, with every file in one directory."""
import ctypes
import os
import pathlib
import re
import secrets
import shutil
import signal
import socket
import subprocess
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "scancel", "squeue")
SEARCH_PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"

# There are more processors than the machine has, so that all jobs run at once; the "GPUs" are any two device
# files. cred_expire is also how long a requeued job waits, bf_interval how often waiting jobs are examined.
SLURM_CONF = """
ClusterName=spsolve-test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={directory}/munge.socket,cred_expire=6
SchedulerParameters=bf_interval=3,sched_interval=3
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
KillWait=10
MailProg=/bin/true
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs=64 Gres=gpu:2 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=60 State=UP
"""


def reason_to_skip():
    """Returns why no Slurm can be started here, or None."""
    if os.geteuid() != 0:
        return "only root can start munged, slurmctld and slurmd"
    missing = [name for name in PROGRAMS if not shutil.which(name, path=SEARCH_PATH)]
    return f"{', '.join(missing)} not found (apt-get install slurm-wlm munge)" if missing else None


def wait_until(condition, seconds, what):
    """Returns the first true value of condition()."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {seconds} s: {what}")
        time.sleep(0.3)
    return value


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def end_with_parent():
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


class PrivateSlurm:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        # Variables of a job that runs this test are left out.
        self.environment = {key: value for key, value in os.environ.items()
                            if not re.match("SLURM|SBATCH|SRUN|PMI|OMPI", key)}
        self.environment |= {"PATH": SEARCH_PATH, "SLURM_CONF": f"{directory}/slurm.conf"}
        self._daemons = []

    def __enter__(self):
        host = socket.gethostname().split(".")[0]
        controller_port, node_port = free_ports(2)
        self.directory.chmod(0o755)  # munged wants its socket open to all
        for name in ("state", "spool"):
            (self.directory / name).mkdir()
        key = self.directory / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(1024))
        (self.directory / "slurm.conf").write_text(SLURM_CONF.format(
            host=host, controller_port=controller_port, node_port=node_port, directory=self.directory))
        (self.directory / "gres.conf").write_text("Name=gpu File=/dev/null\nName=gpu File=/dev/zero\n")
        # The plugin for cgroups v2 looks for systemd, that for v1 is idle; "disabled" came with 24.05.
        release = int(re.search(r"(\d+)\.", self.call("slurmctld", "-V").stdout)[1])
        plugin = "disabled" if release >= 24 else "cgroup/v1"
        (self.directory / "cgroup.conf").write_text(f"CgroupPlugin={plugin}\n")
        try:
            files = {"socket": "socket", "key-file": "key", "pid-file": "pid", "seed-file": "seed"}
            self._start("munged", "--foreground",
                        *(f"--{option}={self.directory}/munge.{ending}" for option, ending in files.items()))
            wait_until((self.directory / "munge.socket").exists, 20, "munged listens")
            self._start("slurmctld", "-D")
            answers = lambda: self.call("scontrol", "ping", check=False).returncode == 0
            wait_until(answers, 30, "slurmctld answers")
            self._start("slurmd", "-D")
            is_idle = lambda: "State=IDLE" in self.call("scontrol", "show", "node").stdout
            wait_until(is_idle, 30, "the node is idle")
        except BaseException as error:
            self.__exit__()
            logs = [f"{log.name}:\n{log.read_text()}" for log in sorted(self.directory.glob("*.log"))]
            raise RuntimeError("\n".join(["Slurm does not start", *logs])) from error
        return self

    def __exit__(self, *_):
        if len(self._daemons) == 3:
            self.call("scancel", "--user=root", check=False)
            have_ended = lambda: not self.call("squeue", "--noheader", check=False).stdout
            wait_until(have_ended, 30, "all jobs have ended")
        for daemon in reversed(self._daemons):
            daemon.terminate()
            try:
                daemon.wait(15)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def _start(self, *command):
        with open(self.directory / f"{command[0]}.log", "wb") as log:
            self._daemons.append(subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL,
                                                  stdout=log, stderr=log, preexec_fn=end_with_parent))

    def call(self, *command, check=True):
        return subprocess.run(command, env=self.environment, check=check, text=True, capture_output=True)

    def submit(self, *arguments, **environment):
        """Calls sbatch and returns the job's number."""
        done = subprocess.run(["sbatch", "--parsable", *arguments], env=self.environment | environment,
                              cwd=self.directory, stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout.strip()

    def job(self, number):
        """Returns state, number of restarts and exit status of a job."""
        shown = self.call("scontrol", "show", "job", number).stdout
        state, restarts, status = (re.search(rf"\b{key}=(\w+)", shown)[1]
                                   for key in ("JobState", "Restarts", "ExitCode"))
        return state, int(restarts), int(status)
