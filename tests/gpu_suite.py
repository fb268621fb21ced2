#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs all tests that need a GPU, side by side on the GPUs and cores of one machine. The exit status is 0 when nothing failed.

  tests/gpu_suite.py build/cuda                   about five minutes on 16 cores and one GPU
  tests/gpu_suite.py build/cuda --gpus 2          hides the other GPUs
  tests/gpu_suite.py build/cuda --several         only what several ranks do
  tests/gpu_suite.py build/cuda --tool memcheck   a selection under compute-sanitizer (or racecheck, initcheck, synccheck)
  tests/gpu_suite.py build/cuda --only test_block --only app_restart
  tests/gpu_suite.py build/cuda --log FOLDER --rest  goes on where a run into this folder stopped or failed

Programs are found by name anywhere below the first argument. GPUs are dealt to them in turn, one for each rank; ranks share
them where there are too few (then over MPI instead of NCCL or copies between GPUs).
"""
import argparse
import collections
import dataclasses
import itertools
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TESTS = pathlib.Path(__file__).resolve().parent
ON_GPUS = "*Gpus*:Devices/*/1:Devices/*/cuda*"  # cases for GPUs of programs that also have cases for CPUs
COMPILED = "-*Template*:*Compile*"  # all but what the CPU suite has compiled already
SHARE = "compute.device=cuda parallel.share_gpus=true"
SCALAR = SHARE + " compute.unit=scalar"
# Most of the time goes to starting processes on a GPU, one after the other.
os.environ.setdefault("SPSOLVE_RANDOM_CASES", "8")


@dataclasses.dataclass
class Program:
    """Describes a GoogleTest program: which of its cases run, on how many ranks, in how many parts at the same time on one
    GPU."""
    name: str
    filter: str = COMPILED
    ranks: tuple = (1,)
    parts: int = 1


@dataclasses.dataclass
class Script:
    """Describes a Python test of the executable, each of whose cases runs by itself: the settings of its runs."""
    name: str
    file: str
    settings: str = SHARE


# The tests that take longest come first. app_inputs is left out: app_devices solves the same inputs.
SUITE = [
    Script("app_restart", "test_restart", SHARE + " compute.tune=false"),  # its cases share the winners that they time
    Program("test_block", ON_GPUS, ranks=(1, 2, 3, 4, 6, 8)),
    Program("test_cuda_scalar", parts=10),
    Script("app_faults", "test_faults", SCALAR),
    Script("app_plan", "test_plan"),
    Program("test_mma_sweep", parts=6),
    Program("test_separable_sweep", parts=6),
    Program("test_wgmma_sweep", parts=4),
    Program("test_tensor_units", ON_GPUS, ranks=(1, 2, 3), parts=4),
    Program("test_random_problems", ON_GPUS, ranks=(1, 2, 4)),
    Program("test_systems", ON_GPUS, ranks=(1, 2, 3), parts=4),
    Program("test_filled_walls", ON_GPUS, ranks=(1, 2, 3), parts=2),
    Program("test_strides", ON_GPUS, ranks=(1, 2, 3), parts=2),
    Program("test_convergence", ON_GPUS, ranks=(1, 2)),
    Program("test_evolve", ON_GPUS, ranks=(1, 3)),
    Program("test_diagnostics", ON_GPUS, ranks=(1, 2, 5)),
    Program("test_promise", ON_GPUS, parts=5),
    Program("test_sparse_mma"),
    Program("test_ceilings", parts=2),
    Script("app_devices", "test_devices", ""),
    Script("app_files", "test_files"),
    Script("app_walls", "test_walls"),
    Script("app_against_numpy", "test_against_numpy", SCALAR),
    Script("app_equations", "test_equations"),
    Script("app_around_equations", "test_around_equations"),
    Script("app_greens_functions", "test_greens_functions"),
    Script("app_pictures", "test_pictures"),
]
# compute-sanitizer finishes each of these in a minute and a half.
SANITIZED = [
    Program("test_cuda_scalar", "*Seeds*/?:*Shapes*:*TallStar*", parts=6),
    Program("test_mma_sweep", "*OnTensorCores*/?_*:*TensorCoreBits*/0:Wide/*box2d13r_fp16*:Wide/*box3d6r_tf32*:Wide/*box2d4r_fp32*", parts=6),
    Program("test_separable_sweep", "*Lines/fp16:*Lines/fp32:*Planes/tf32:*Space/fp16:*Space/fp32", parts=5),
    Program("test_wgmma_sweep", "*OnHopper*/0:*OnHopper*/1:*OnHopper*/2:*OnHopper*/3:*OnHopper*/7:*OnHopper*/10", parts=6),
    Program("test_block", ON_GPUS),
    Program("test_random_problems", ON_GPUS),
    Program("test_tensor_units", "*OfGpus*/0:*OfGpus*/3:*OfGpus*/8:*OfGpus*/12", parts=3),
    Program("test_diagnostics", ON_GPUS, parts=3),
    Program("test_evolve", ON_GPUS),
    Program("test_systems", ON_GPUS, parts=3),
    Program("test_filled_walls", ON_GPUS, parts=2),
]


@dataclasses.dataclass
class Job:
    """Holds a process of the suite, with the number of ranks and GPUs that it takes, and its result."""
    name: str
    command: list
    ranks: int = 1
    gpus: int = 1
    environment: dict = dataclasses.field(default_factory=dict)
    log: pathlib.Path = None
    process: subprocess.Popen = None
    seconds: float = 0.0

    def identity(self):
        return " ".join([self.name, *(f"{name}={value}" for name, value in self.environment.items()), *self.command])


def program_jobs(program, folder, arguments):
    path = next((path for path in sorted(folder.rglob(program.name)) if os.access(path, os.X_OK) and path.is_file()), None)
    if path is None:
        sys.exit(f"no program {program.name} below {folder}: build all targets with CUDA first")
    parts = program.parts * (1 if arguments.tool else min(arguments.gpus, 4))
    for ranks in program.ranks:
        launcher = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
        if arguments.tool:
            launcher = ["compute-sanitizer", "--tool", arguments.tool, "--error-exitcode", "99", "--print-limit", "3"]
            if arguments.tool == "memcheck":
                launcher += ["--report-api-errors", "no"]  # NCCL asks for kernels that it may not have
        for part in range(parts):
            shard = {"GTEST_TOTAL_SHARDS": str(parts), "GTEST_SHARD_INDEX": str(part)}
            name = program.name + (f" on {ranks} ranks" if ranks > 1 else "")
            yield Job(name, [*launcher, str(path), "--gtest_color=no", f"--gtest_filter={program.filter}"], ranks, ranks, shard)


def script_jobs(script, folder):
    executable = next(path for path in folder.rglob("spsolve") if path.is_file())
    sys.path.insert(0, str(TESTS / "app"))
    suite = unittest.defaultTestLoader.loadTestsFromName(script.file)
    for case in (case for cases in suite for case in cases):
        test = case.id().partition(".")[2]
        yield Job(script.name, [sys.executable, "-B", str(TESTS / "app" / f"{script.file}.py"), "-v", test], 2, 4,
                  {"SPSOLVE": str(executable), "SPSOLVE_SOURCE": str(TESTS.parent), "SPSOLVE_SET": script.settings})


def start(job, log, gpus):
    # Each mpirun would bind its ranks to the first cores, and refuses to run as root unless told otherwise.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
                   "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **job.environment}
    environment["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, gpus))
    job.log = log
    job.seconds = time.monotonic()
    with open(job.log, "w") as file:
        job.process = subprocess.Popen(job.command, env=environment, stdin=subprocess.DEVNULL, stdout=file,
                                       stderr=subprocess.STDOUT, start_new_session=True)


def run(jobs, arguments, folder, passed_file):
    """Runs all jobs in their order, a limited number of ranks at a time, and kills those that exceed the time limit. Jobs that pass are
    added to a file."""
    begin, running = time.monotonic(), []
    waiting, gpus = collections.deque(enumerate(jobs)), itertools.cycle(range(arguments.gpus))
    while waiting or running:
        free = arguments.ranks - sum(job.ranks for job in running)
        while waiting and (waiting[0][1].ranks <= free or not running):
            number, job = waiting.popleft()
            start(job, folder / f"{number:03}.log", [next(gpus) for _ in range(min(job.gpus, arguments.gpus))])
            running.append(job)
            free -= job.ranks
        for job in running:
            if time.monotonic() - begin > arguments.limit and job.process.poll() is None:
                os.killpg(job.process.pid, signal.SIGKILL)
                waiting.clear()
        for job in [job for job in running if job.process.poll() is not None]:
            running.remove(job)
            job.seconds = time.monotonic() - job.seconds
            if job.process.returncode == 0:
                with open(passed_file, "a") as file:
                    file.write(job.identity() + "\n")
        time.sleep(0.05)


# PASSED matches the line that a case of either kind of test leaves in the log.
PASSED = re.compile(r"^\[       OK \]|\.\.\. ok$", re.M)
SKIPPED = re.compile(r"^\[  SKIPPED \] .* ms\)$|\.\.\. skipped ", re.M)
FAILED = re.compile(r"^\[  FAILED  \] .* ms\)$|^(?:FAIL|ERROR): .*$", re.M)
TELLING = re.compile(r"^\[  FAILED  \].* ms\)$|^(?:FAIL|ERROR): |: Failure$|Error: |^spsolve: |terminate|what\(\)"
                     r"|========= (?:Invalid|Error|ERROR SUMMARY: [1-9]|RACECHECK SUMMARY: [1-9])")


def report(jobs, arguments):
    """Prints a line per program and the failures; returns the number of failures."""
    totals = collections.defaultdict(lambda: [0, 0, 0, 0.0])
    broken = []
    for job in jobs:
        text = job.log.read_text(errors="replace") if job.log else ""
        counts = [len(pattern.findall(text)) for pattern in (PASSED, FAILED, SKIPPED)]
        status = job.process.returncode if job.process else None
        if status != 0 and not counts[1]:
            counts[1] = 1  # it crashed, or had no time
        if status != 0:
            broken.append((job, "out of time" if status in (None, -signal.SIGKILL) else f"status {status}", text))
        totals[job.name] = [a + b for a, b in zip(totals[job.name], [*counts, job.seconds if job.process else 0])]
    print(f"{'':28}{'passed':>8}{'failed':>8}{'skipped':>8}{'seconds':>9}")
    for name, (passed, failed, skipped, seconds) in totals.items():
        print(f"{name:28}{passed:8}{failed:8}{skipped:8}{seconds:9.0f}")
    passed, failed, skipped, _ = (sum(column) for column in zip(*totals.values()))
    print(f"{'on ' + str(arguments.gpus) + ' GPUs':28}{passed:8}{failed:8}{skipped:8}")
    for job, why, text in broken:
        print(f"\n{job.name}: {why}: {' '.join(job.command[-2:])} ({job.log})")
        print("\n".join(line[:200] for line in text.splitlines() if TELLING.search(line))[:1500])
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="build folder")
    parser.add_argument("--gpus", type=int, default=0, help="how many GPUs to use (all)")
    parser.add_argument("--ranks", type=int, default=0,
                        help="how many processes at a time (16, or 4 per GPU on many GPUs: processes wait for one another to start)")
    parser.add_argument("--several", action="store_true",
                        help="only programs of several ranks: what many GPUs tell and one does not")
    parser.add_argument("--limit", type=float, default=400, help="time limit of a program in seconds (400)")
    parser.add_argument("--tool", help="run a selection under this tool of compute-sanitizer")
    parser.add_argument("--only", action="append", help="this program or script only")
    parser.add_argument("--log", type=pathlib.Path, help="folder for the output of all programs (a temporary one)")
    parser.add_argument("--rest", action="store_true", help="only what has not passed in the runs that wrote into the folder --log")
    arguments = parser.parse_args()
    if not arguments.gpus:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout
        arguments.gpus = len(listed.splitlines())
        if not arguments.gpus:
            sys.exit("no GPU here (nvidia-smi -L)")
    arguments.ranks = arguments.ranks or max(16, 4 * arguments.gpus)

    folder = arguments.log or pathlib.Path(tempfile.mkdtemp(prefix="spsolve_gpu_suite_"))
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["SPSOLVE_GPUS"] = str(arguments.gpus)
    jobs = []
    for entry in SANITIZED if arguments.tool else SUITE:
        if not arguments.only or entry.name in arguments.only:
            build = arguments.build.resolve()
            jobs += program_jobs(entry, build, arguments) if isinstance(entry, Program) else script_jobs(entry, build)
    if arguments.several:
        jobs = sorted((job for job in jobs if job.gpus > 1), key=lambda job: job.name.startswith("app_"))
    else:  # several ranks compile the same kernels at the same time, unless one rank alone has left them in the cache
        jobs.sort(key=lambda job: job.ranks > 1 and not job.name.startswith("app_"))
    passed = folder / "passed.txt"
    if arguments.rest and passed.exists():
        done = set(passed.read_text().splitlines())
        jobs = [job for job in jobs if job.identity() not in done]
        folder = folder / f"rest{len(list(folder.glob('rest*')))}"
        folder.mkdir()
    else:
        passed.write_text("")
    run(jobs, arguments, folder, passed)
    sys.exit(1 if report(jobs, arguments) else 0)


if __name__ == "__main__":
    main()
