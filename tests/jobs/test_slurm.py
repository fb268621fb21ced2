#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_slurm.py SPSOLVE JOBS: submits the scripts of jobs/ to a real Slurm, lets them reach their time limit,
and compares what they have written after the requeue with a run that never stopped. Exit status 77: no Slurm
can be started here."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

import private_slurm
from private_slurm import PrivateSlurm, wait_until

SPSOLVE, JOBS = map(pathlib.Path, sys.argv[1:3])

# The wall-time limit is longer than Slurm's: it ends the ranks that a killed test leaves behind.
CASE = """
name = "slurm"
[grid]
shape = [37, 29, 41]
[boundary]
y = "neumann"
z = {{ low = {{ dirichlet = 1.0 }}, high = {{ dirichlet = 0.0 }} }}
[stencil]
preset = "advection-diffusion"
diffusivity = 0.1
velocity = [0.3, -0.2, 0.1]
dt = 0.5
[initial]
expression = "sin(x/3) + y*z/900"
[source]
expression = "0.01*sin(y/5 + x)"
[time]
steps = {steps}
wall_limit_minutes = 3
[compute]
device = "cpu"
"""
ENDLESS = 10**9

# Slurm examines the time limit (at least a minute) every 30 s and warns if the next check could be too late:
# with 20 s of notice a job is warned 10 to 40 s after its start.
SHORT = ("--time=1", "--signal=B:USR1@20", "--cpus-per-task=1")

# Name: script, launcher, options
LIMITED = {
    "cpu_srun": ("cpu.sbatch", "srun", ["--ntasks-per-node=3"]),
    "cpu_mpirun": ("cpu.sbatch", "mpirun", ["--ntasks-per-node=2"]),
    "gpu_srun": ("gpu.sbatch", "srun", ["--ntasks-per-node=2", "--gpus-per-node=2"]),
}
ENVIRONMENT = {
    "PATH": f"{SPSOLVE.parent}:{private_slurm.SEARCH_PATH}",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",  # Slurm believes in more cores than there are
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


class JobScripts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="spsolve_slurm_"))
        cls.directory = pathlib.Path(directory)
        cls.slurm = cls.enterClassContext(PrivateSlurm(cls.directory))
        types = cls.slurm.call("srun", "--mpi=list", check=False)
        launchers = ["srun", "mpirun"] if "pmix" in types.stdout + types.stderr else ["mpirun"]
        if "srun" not in launchers:
            print("not tested: launcher srun, for this Slurm has no pmix")
        cls.launcher = launchers[0]
        cls.limited = {name: job for name, job in LIMITED.items() if job[1] in launchers}

    def write_input(self, name, steps):
        """Replaces the input atomically, because a job may be about to read it."""
        part = self.directory / "input.part"
        part.write_text(CASE.format(steps=steps))
        part.rename(self.directory / name)

    def submit(self, name, script, launcher, options, *arguments):
        return self.slurm.submit(*SHORT, *options, f"--output={name}.log", str(JOBS / script), *arguments,
                                 "--output", f"out_{name}", **ENVIRONMENT, SPSOLVE_LAUNCHER=launcher)

    def submit_endless(self, name, *arguments):
        """Submits a job on two ranks that only a signal can end."""
        self.write_input("endless.toml", ENDLESS)
        return self.submit(name, "cpu.sbatch", self.launcher, ["--ntasks-per-node=2"], "endless.toml",
                           *arguments)

    def wait_for_steps(self, name):
        wait_until(lambda: "\nstep " in self.log(name), 60, f"{name} steps")

    def log(self, name):
        path = self.directory / f"{name}.log"
        return path.read_text() if path.exists() else ""

    def wait_for_end(self, number):
        def ended():
            job = self.slurm.job(number)
            return job if job[0] not in ("PENDING", "RUNNING", "COMPLETING", "REQUEUED") else None
        return wait_until(ended, 100, f"job {number} ends")

    def checkpointed_step(self, name):
        checkpoints = (self.directory / f"out_{name}").glob("checkpoint_*.h5")
        return max((int(path.stem.split("_")[1]) for path in checkpoints), default=None)

    def test_a_limited_job_requeues_itself_and_ends_with_the_bits_of_an_uninterrupted_run(self):
        self.write_input("limited.toml", ENDLESS)
        numbers = {name: self.submit(name, *job, "limited.toml") for name, job in self.limited.items()}
        for name in self.limited:
            wait_until(lambda: self.checkpointed_step(name), 90, f"{name} has written a checkpoint")
        # No job can end before its limit; from now on they can. A job that has read the old input again is
        # limited again.
        steps = 101 + max(map(self.checkpointed_step, self.limited))
        self.write_input("limited.toml", steps)
        ends = {name: self.wait_for_end(number) for name, number in numbers.items()}

        subprocess.run([SPSOLVE, "limited.toml", "--output", "out_uninterrupted", "--quiet"], check=True,
                       cwd=self.directory, env=self.slurm.environment | ENVIRONMENT)
        last = f"snapshot_{steps:010}.hdf"
        expected = (self.directory / "out_uninterrupted" / last).read_bytes()
        for name, (state, restarts, status) in ends.items():
            with self.subTest(name):
                log = self.log(name)
                self.assertEqual((state, status), ("COMPLETED", 0), log)
                self.assertGreaterEqual(restarts, 1, log)
                self.assertIn("starting from the beginning", log)
                self.assertIn("restarting from", log)
                self.assertNotIn("\r", log, "a progress bar in a log")
                written = (self.directory / f"out_{name}" / last).read_bytes()
                self.assertTrue(written == expected, f"{last} differs")

    def test_a_job_with_wrong_input_fails_and_stays_so(self):
        number = self.submit_endless("wrong", "--set", "grid.shap=[5]")
        self.assertEqual(self.wait_for_end(number), ("FAILED", 0, 2), self.log("wrong"))

    def test_a_cancelled_job_does_not_requeue_itself(self):
        number = self.submit_endless("cancelled")
        self.wait_for_steps("cancelled")
        self.slurm.call("scancel", number)
        self.assertEqual(self.wait_for_end(number)[:2], ("CANCELLED", 0), self.log("cancelled"))

    def test_a_job_that_loses_a_rank_fails_and_stays_so(self):
        number = self.submit_endless("killed")
        self.wait_for_steps("killed")
        os.kill(self.ranks_of("killed")[-1], signal.SIGKILL)
        self.assertEqual(self.wait_for_end(number)[:2], ("FAILED", 0), self.log("killed"))

    def ranks_of(self, name):
        """Returns the processes of spsolve that write to the job's directory."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                arguments = (entry / "cmdline").read_bytes().decode().split("\0")
            except OSError:  # no process, or it has ended
                continue
            if pathlib.Path(arguments[0]).name == "spsolve" and f"out_{name}" in arguments:
                found.append(int(entry.name))
        return found


if __name__ == "__main__":
    if reason := private_slurm.reason_to_skip():
        print("skipped:", reason)
        sys.exit(77)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the daemons are ended then, too
    unittest.main(argv=sys.argv[:1], verbosity=2)
