# SPDX-License-Identifier: Apache-2.0
"""Runs the spsolve executable as users do, and reads what it leaves. CMake says where it is: the environment variables
SPSOLVE, MPIEXEC and SPSOLVE_SOURCE (the root of the source tree). SPSOLVE_SET holds settings for all runs that do not say
otherwise, "section.key=value ...", so that the same tests tell whether other ways give the same files."""
import csv
import dataclasses
import functools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import unittest

import h5py

EXECUTABLE = os.environ.get("SPSOLVE", "spsolve")
MPIEXEC = os.environ.get("MPIEXEC", "mpirun")
SOURCE = pathlib.Path(os.environ.get("SPSOLVE_SOURCE", pathlib.Path(__file__).parents[2]))
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_mpi_yield_when_idle": "1", "OMP_NUM_THREADS": "1"}


def settings(*of_keys):
    """Returns arguments that set keys of the input: "section.key=value"."""
    return [word for setting in of_keys for word in ("--set", setting)]


SETTINGS = settings(*os.environ.get("SPSOLVE_SET", "").split())
ON_GPU = "compute.device=cuda" in SETTINGS
LONGEST = 240  # seconds until a run counts as hung
# mpirun inherits the blocked signals of the process that started the tests, and would never forward them.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
# Runs would inherit that nohup has HUP ignored, and a shell that starts the tests in the background INT. Handlers are not inherited.
for ignored in (signal.SIGHUP, signal.SIGINT):
    if signal.getsignal(ignored) == signal.SIG_IGN:
        signal.signal(ignored, lambda *_: None)


@dataclasses.dataclass
class Result:
    status: int
    out: str
    err: str


def state(pid):
    """Returns the state of a process, such as "R" (it runs) and "S" (it waits), or "X" if there is none."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"


def alive(pid):
    return state(pid) not in "ZX"


class Job:
    """Is a run that was started, alone or with ranks=n under mpirun. Used in a with statement, it leaves no process."""

    def __init__(self, *arguments, ranks=None, cwd=None, environment=None):
        if arguments and pathlib.Path(arguments[0]).suffix == ".toml":
            arguments = [arguments[0], *SETTINGS, *arguments[1:]]
        launcher = [MPIEXEC, "--oversubscribe", "-n", str(ranks)] if ranks else []
        self.launched = bool(ranks)
        self.process = subprocess.Popen([*launcher, EXECUTABLE, *map(str, arguments)], cwd=cwd, text=True,
                                        env={**ENVIRONMENT, **(environment or {})}, start_new_session=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            for pid in [*self.ranks(), self.process.pid]:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        self.process.communicate()

    def ranks(self):
        """Returns the process ids of the ranks."""
        pid = self.process.pid
        if not self.launched:
            return [pid]
        try:
            return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        except OSError:
            return []

    def wait(self, longest=LONGEST):
        """Waits until the run ends. It does not rely on the launcher: mpirun of Open MPI 4.1 may hang after a rank was
        killed."""
        try:
            out, err = self.process.communicate(timeout=longest)
        except subprocess.TimeoutExpired:
            if not self.launched or any(map(alive, self.ranks())):
                raise
            self.process.kill()
            out, err = self.process.communicate()
        return Result(self.process.returncode, out, err)

    def wait_for(self, condition, what):
        """Waits until condition() holds; fails if the run ends before."""
        begin = time.monotonic()
        while not condition():
            if self.process.poll() is not None:
                raise AssertionError(f"the run ended before {what}: {self.wait()}")
            assert time.monotonic() < begin + LONGEST, f"waited too long for {what}"
            time.sleep(0.01)


def run(*arguments, **options):
    with Job(*arguments, **options) as job:
        return job.wait()


@functools.cache
def mpirun_forwards_signals():
    """Returns False for Open MPI 4.1.6 on Ubuntu 24.04, whose mpirun does not."""
    script = "trap 'exit 3' USR1; echo ready; for i in $(seq 50); do sleep 0.1; done"
    with subprocess.Popen([MPIEXEC, "-n", "1", "sh", "-c", script], env=ENVIRONMENT, start_new_session=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGUSR1)
        return process.wait() == 3


def require_gpu():
    """Skips without a GPU. SPSOLVE_GPUS says that there are some, so that not every test has to look."""
    if "SPSOLVE_GPUS" in os.environ:
        return
    if re.search(r"GPUs +none", run("doctor").out):
        raise unittest.SkipTest("needs a GPU")


def toml(value):
    """Returns a Python value as TOML, tables inline."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, pathlib.Path)):
        return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(float(value) if isinstance(value, float) else value)  # NumPy 2 writes np.float64(0.5)


def write_input(path, sections):
    """Writes an input file from {section: {key: value}}; of a list of such tables each is [[section]]."""
    lines = []
    for section, tables in sections.items():
        header = f"[[{section}]]" if isinstance(tables, list) else f"[{section}]"
        for keys in tables if isinstance(tables, list) else [tables]:
            lines.append(f"{header}\n" + "".join(f"{key} = {toml(value)}\n" for key, value in keys.items()))
    pathlib.Path(path).write_text("\n".join(lines))
    return pathlib.Path(path)


def awkward_problem(**sections):
    """Returns sections of an input, updated by others: every kind of wall, asymmetric weights, a source, prime sizes."""
    return {
        "grid": {"shape": [37, 61]},
        "boundary": {"x": {"low": {"dirichlet": 0.5}, "high": "neumann"}, "y": "periodic"},
        "stencil": {"weights": [[0.02, 0.1, 0.0], [0.3, 0.3, 0.1], [0.08, 0.05, 0.04]]},
        "initial": {"expression": "sin(0.3*x) * cos(0.1 + y*2*pi/37)"},
        "source": {"expression": "x > 40 ? 0.001 * y / 37 : 0"},
        **sections,
    }


def inputs(directory):
    """Returns the files of inputs/, in a new directory with the data that their scripts make."""
    shutil.copytree(SOURCE / "inputs", directory)
    for script in directory.glob("make_*.py"):
        subprocess.run([sys.executable, script], check=True, capture_output=True)
    return sorted(directory.glob("*.toml"))


def names_file(section):
    """Returns whether values of a section, or of a table in it, come from a file."""
    return "file" in section or any(isinstance(value, dict) and names_file(value) for value in section.values())


def shortened(path, steps, longest):
    """Returns settings that limit an input to a number of steps and, if no file fills the grid, to a number of points per
    axis."""
    sections = tomllib.loads(path.read_text())
    if "end" in sections["time"]:
        dt = sections["time"].get("dt") or sections["stencil"]["dt"]
        shorter = [f"time.end={steps * dt}"]
    else:
        shorter = [f"time.steps={steps}"]
    if not names_file(sections.get("initial", {})) and not names_file(sections.get("coefficients", {})):
        shorter.append(f"grid.shape={[min(n, longest) for n in sections['grid']['shape']]}")
    return settings(*shorter)


def step_of(path):
    return int(path.stem.split("_")[1])


def snapshots(directory):
    """Returns {step: path}."""
    return {step_of(path): path for path in sorted(pathlib.Path(directory).glob("snapshot_*.hdf"))}


def checkpoints(directory):
    return {step_of(path): path for path in sorted(pathlib.Path(directory).glob("checkpoint_*.h5"))}


def values(path):
    """Returns the dataset /u as it is stored."""
    with h5py.File(path) as file:
        return file["u"][()]


def diagnostics(directory):
    """Returns the rows of diagnostics.csv as dictionaries of numbers."""
    with open(pathlib.Path(directory) / "diagnostics.csv", newline="") as file:
        return [{key: float(number) for key, number in row.items()} for row in csv.DictReader(file)]


class TestCase(unittest.TestCase):
    """Every test has an empty directory of its own."""

    @classmethod
    def setUpClass(cls):
        if ON_GPU:
            require_gpu()

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="spsolve_test_"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def finished(self, result, status=0):
        self.assertEqual(result.status, status, f"\n{result.out}\n{result.err}")
        return result

    def assert_same_files(self, one, other):
        """Expects the same results in two directories, byte by byte. Checkpoints and reports also hold the input."""
        names = sorted(path.name for path in one.iterdir())
        self.assertEqual(names, sorted(path.name for path in other.iterdir()))
        for name in names:
            if name.startswith("checkpoint_"):
                with h5py.File(one / name) as a, h5py.File(other / name) as b:
                    self.assertEqual(*({key: file[key][()].tobytes() for key in file} for file in (a, b)), name)
            elif name != "run.json":
                self.assertEqual((one / name).read_bytes(), (other / name).read_bytes(), name)

    def run_to(self, status, *arguments, **options):
        """Runs in the test's directory and asserts the exit status."""
        return self.finished(run(*arguments, **{"cwd": self.directory, **options}), status)
