# SPDX-License-Identifier: Apache-2.0
"""A run that was stopped, in whatever way, and restarted on another number of ranks leaves the same bits as one that never
stopped: snapshots, diagnostics and the last checkpoint."""
import contextlib
import fcntl
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import termios
import time
import unittest

import h5py
import numpy as np

import spsolve

# Takes the place of the reads of the C library, and writes down how many bytes of data.h5 each has read.
COUNT_READ_BYTES = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static ssize_t counted(int file, ssize_t bytes) {
  char link[64], path[4096], text[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (bytes <= 0 || length < 7 || memcmp(path + length - 7, "data.h5", 7) != 0) return bytes;
  const int counts = open(getenv("SPSOLVE_COUNTS"), O_WRONLY | O_CREAT | O_APPEND, 0600);
  snprintf(text, sizeof text, "%zd ", bytes);
  if (write(counts, text, strlen(text)) < 0) abort();
  close(counts);
  return bytes;
}
ssize_t read(int file, void* to, size_t bytes) { return counted(file, syscall(SYS_read, file, to, bytes)); }
ssize_t pread(int file, void* to, size_t bytes, off_t at) { return counted(file, syscall(SYS_pread64, file, to, bytes, at)); }
ssize_t pread64(int file, void* to, size_t bytes, off_t at) { return counted(file, syscall(SYS_pread64, file, to, bytes, at)); }
"""

STEPS = 400
ENDLESS = 10**8  # steps of a run that ends only if it is told to, however late that is


def problem(precision="fp64", steps=STEPS, **checkpoint):
    """Makes fused launches that divide nothing."""
    return spsolve.awkward_problem(
        time={"steps": steps, "fuse": 3},
        compute={"precision": precision},
        output={"directory": "out", "every": 50},
        diagnostics={"every": 20},
        checkpoint={"every": 70, "keep": 3, **checkpoint})


def truncate(path):
    path.write_bytes(path.read_bytes()[:-3000])


def flip(path):
    with h5py.File(path) as checkpoint:
        offset = checkpoint["u"].id.get_offset()
    data = bytearray(path.read_bytes())
    data[offset + 1234] ^= 4
    path.write_bytes(data)


def root_header(path):
    data = bytearray(path.read_bytes())
    data[48] ^= 4
    path.write_bytes(data)


def empty(path):
    path.write_bytes(b"")


def impostor(path):
    with h5py.File(path, "w") as other:
        other["u"] = np.zeros((37, 61))


def in_signal_set(job, name, number):
    """Returns whether a signal is in a set (SigBlk, SigIgn, SigCgt) of a job's process."""
    signals = pathlib.Path(f"/proc/{job.process.pid}/status").read_text().split(f"{name}:")[1].split()[0]
    return bool(int(signals, 16) >> (number - 1) & 1)


def terminate(job):
    """Sends TERM to every rank. The first one that gets it stops all, so others may have ended before their turn."""
    for rank in job.ranks():
        with contextlib.suppress(ProcessLookupError):
            os.kill(rank, signal.SIGTERM)


def early_problem(precision):
    """Returns the input of a checkpoint in tests/app/checkpoints. Between them they have all that inputs of that time could have:
    values of files and of formulas, own weights and a preset, and every kind of wall."""
    of_file = lambda dataset: {"file": "plate.h5", "dataset": dataset}
    rest = {"grid": {"shape": [11, 13], "spacing": [0.5, 0.25], "origin": [0.1, -1.0]}, "time": {"steps": 40, "fuse": 3},
            "compute": {"precision": precision, "device": "cpu"}, "output": {"directory": "out", "every": 10},
            "diagnostics": {"every": 5}, "checkpoint": {"every": 20}}
    return {"fp64": {"boundary": {"y": {"low": {"dirichlet": 0.5}, "high": "neumann"}, "x": "periodic"},
                     "stencil": {"weights": [[0.02, 0.1, 0.0], [0.3, 0.3, 0.1], [0.08, 0.05, 0.04]], "center": [1, 0]},
                     "initial": of_file("u"), "source": {"expression": "x > 1 ? 0.01*y : 0"}, **rest},
            "fp32": {"boundary": {"y": "neumann", "x": {"low": {"dirichlet": 0.75}, "high": {"dirichlet": -0.25}}},
                     "stencil": {"preset": "heat", "diffusivity": [0.25, 0.0625], "dt": 0.1, "order": 4},
                     "initial": {"expression": "exp(-x^2) + sin(3*y) > 1 ? x*y : cos(2*x - y)"}, "source": of_file("s"), **rest}}[precision]


def write_plate(path):
    """Writes the datasets of early_problem()."""
    with h5py.File(path, "w") as file:
        for name, scale in (("u", 1.0), ("s", 0.01)):
            file[name] = scale * (np.arange(143) ** 2 % 29 / 16 - 1).reshape(11, 13)


class Restart(spsolve.TestCase):
    def write(self, name="problem", **options):
        return spsolve.write_input(self.directory / f"{name}.toml", problem(**options))

    def uninterrupted(self, file, *options, ranks=None):
        self.run_to(0, file, "--output", "whole", *options, ranks=ranks)

    def restart(self, file, *options, ranks=None):
        return self.run_to(0, file, "--restart", "latest", *options, ranks=ranks)

    def assert_same_bits(self, out="out", whole="whole"):
        for name in sorted(path.name for path in (self.directory / whole).iterdir()):
            one, other = self.directory / whole / name, self.directory / out / name
            if name.startswith("snapshot") or name == "diagnostics.csv":
                self.assertEqual(one.read_bytes(), other.read_bytes(), name)
        newest = max(spsolve.checkpoints(self.directory / whole))
        one, other = (spsolve.checkpoints(self.directory / where)[newest] for where in (whole, out))
        self.assertEqual(spsolve.values(one).tobytes(), spsolve.values(other).tobytes(), one.name)
        left = [path.name for path in (self.directory / out).iterdir() if path.suffix == ".tmp"]
        self.assertEqual(left, [], "temporary files")

    def start(self, file, *options, ranks=None):
        """Starts a run in a new directory and waits until it is past its first checkpoint."""
        shutil.rmtree(self.directory / "out", ignore_errors=True)
        job = spsolve.Job(file, *options, ranks=ranks, cwd=self.directory)
        job.wait_for(lambda: spsolve.checkpoints(self.directory / "out"), "its first checkpoint")
        return job

    def check_restart(self, file, *options, ranks=None):
        """Restarts a run that was stopped, and compares what it leaves with what a run leaves that never stopped. Both end two
        checkpoints beyond the last one, since nobody knows where it was stopped."""
        options = [*options, "--set", f"time.steps={max(spsolve.checkpoints(self.directory / 'out')) + 150}"]
        self.restart(file, *options, ranks=ranks)
        self.uninterrupted(file, "--overwrite", *options)
        self.assert_same_bits()

    def check_shorter_run_and_restart(self, precision, element_bytes):
        file = self.write(precision=precision)
        self.uninterrupted(file, ranks=2)
        self.run_to(0, file, "--set", "time.steps=200", ranks=3)
        with h5py.File(spsolve.checkpoints(self.directory / "out")[140]) as checkpoint:
            self.assertEqual(checkpoint["u"].id.get_type().get_size(), element_bytes)
        with open(self.directory / "out" / "diagnostics.csv", "a") as rows:
            rows.write("120,12.0,-0.5")  # as a run leaves it that is killed while it writes a row
        self.restart(file)
        self.assert_same_bits()

    def test_a_checkpoint_of_the_first_version_continues(self):
        """The first checkpoints had no checksum of their header, and none of the values that an input names."""
        file = self.write()
        self.uninterrupted(file, ranks=2)
        self.run_to(0, file, "--set", "time.steps=200", ranks=2)
        for path in spsolve.checkpoints(self.directory / "out").values():
            with h5py.File(path, "r+") as checkpoint:
                self.assertEqual(checkpoint.attrs["format_version"], 1)
                for later in ("header_checksum", "value_checksums"):
                    del checkpoint["u"].attrs[later]
        self.restart(file, ranks=3)
        self.assert_same_bits()

    def test_checkpoints_of_0_1_0_continue(self):
        """Commit 3e2c3d84, which knew no equations, wrote them after step 20 of early_problem()."""
        write_plate(self.directory / "plate.h5")
        for precision, ranks in (("fp64", 3), ("fp32", None)):
            file = spsolve.write_input(self.directory / "plate.toml", early_problem(precision))
            self.uninterrupted(file, "--set", "compute.device=cpu", "--overwrite")
            begin = spsolve.SOURCE / "tests" / "app" / "checkpoints" / f"plate_{precision}.h5"
            out = self.directory / precision
            self.run_to(0, file, "--set", "compute.device=cpu", "--restart", begin, "--output", out, ranks=ranks)
            self.assertEqual(sorted(spsolve.snapshots(out)), [30, 40])
            for step, snapshot in spsolve.snapshots(out).items():
                self.assertEqual(snapshot.read_bytes(), spsolve.snapshots(self.directory / "whole")[step].read_bytes(), step)
            rows = [[row for row in spsolve.diagnostics(self.directory / where) if row["step"] > 20] for where in (out, "whole")]
            self.assertEqual(len(rows[0]), 4)
            self.assertEqual(*rows)

    def test_signals_stop_with_a_checkpoint(self):
        file = self.write(steps=ENDLESS)
        stops = {
            "USR1 to one rank": lambda job: os.kill(job.ranks()[-1], signal.SIGUSR1),
            "XCPU to one rank": lambda job: os.kill(job.ranks()[0], signal.SIGXCPU),
            "TERM to all ranks": terminate,
            "USR1 to mpirun": lambda job: os.kill(job.process.pid, signal.SIGUSR1),
        }
        for ranks, (how, stop) in zip((2, 2, 3, 4), stops.items()):
            with self.subTest(how):
                if how == "USR1 to mpirun" and not spsolve.mpirun_forwards_signals():
                    self.skipTest("this mpirun does not forward signals")
                with self.start(file, ranks=ranks) as job:
                    stop(job)
                    result = self.finished(job.wait(), 75)
                self.assertIn("--restart latest", result.out)
                self.check_restart(file, ranks=5 - ranks if ranks < 4 else None)

    def test_a_limit_of_processor_time_stops_with_a_checkpoint(self):
        """bash sets the time at which Linux sends XCPU and that at which it kills to the same value."""
        file = self.write(steps=ENDLESS, every=0)
        silent = spsolve.settings("output.every=0", "diagnostics.every=0")
        command = ["bash", "-c", 'ulimit -t 5; exec "$0" "$@"', spsolve.EXECUTABLE, file, *spsolve.SETTINGS, *silent]
        result = subprocess.run(command, cwd=self.directory, env=spsolve.ENVIRONMENT, capture_output=True, text=True)
        self.assertEqual(result.returncode, 75, result.stdout + result.stderr)
        self.assertIn("stopped by a signal", result.stdout)
        (step,) = spsolve.checkpoints(self.directory / "out")
        self.restart(file, *silent, "--set", f"time.steps={step + 5}")

    def test_interrupts(self):
        """One interrupt stops a run; it ends at once at the second, or if nothing has been written yet."""
        out = self.directory / "out"
        file = self.write(steps=ENDLESS, every=0)
        slow = " + ".join(f"sin({factor}*x*y)" for factor in range(200))  # for many seconds
        with spsolve.Job(file, *spsolve.settings("grid.shape=[3001, 3001]", f"initial.expression='{slow}'"), cwd=self.directory) as job:
            while "ranks: 1" not in job.process.stdout.readline():
                self.assertIsNone(job.process.poll())
            job.process.send_signal(signal.SIGINT)
            self.finished(job.wait(), -signal.SIGINT)
        self.assertFalse(out.exists())
        rows = out / "diagnostics.csv"
        with spsolve.Job(file, cwd=self.directory) as job:
            job.wait_for(lambda: rows.exists() and rows.read_text().count("\n") > 1, "it began")
            job.process.send_signal(signal.SIGINT)
            self.assertNotIn("told to end", self.finished(job.wait(), 75).err)
        self.assertTrue(spsolve.checkpoints(out))
        # A run that waits for the reader of its rows cannot stop between the interrupts.
        shutil.rmtree(out)
        out.mkdir()
        os.mkfifo(rows)
        reader = os.open(rows, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        room = fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096) - 512  # rows are shorter than 512 bytes
        waiting = lambda: int.from_bytes(fcntl.ioctl(reader, termios.FIONREAD, bytes(4)), sys.byteorder)
        with spsolve.Job(file, "--set", "output.every=0", cwd=self.directory) as job:
            job.wait_for(lambda: waiting() > room and spsolve.state(job.process.pid) == "S", "its rows fill the pipe")
            job.process.send_signal(signal.SIGINT)
            job.wait_for(lambda: not in_signal_set(job, "SigCgt", signal.SIGINT), "the first interrupt has arrived")
            job.process.send_signal(signal.SIGINT)
            self.assertNotIn("told to end", self.finished(job.wait(), -signal.SIGINT).err)
        self.assertFalse(spsolve.checkpoints(out))

    def test_a_terminal_that_goes_away_stops_with_a_checkpoint(self):
        """HUP stops the run, unless nohup has it ignored."""
        file, out = self.write(steps=ENDLESS, every=0), self.directory / "out"
        rows = out / "diagnostics.csv"
        begun = lambda: rows.exists() and rows.read_text().count("\n") > 1
        with spsolve.Job(file, cwd=self.directory) as job:
            job.wait_for(begun, "it began")
            for _ in range(2):  # that of the shell, and that of the terminal
                job.process.send_signal(signal.SIGHUP)
            self.finished(job.wait(), 75)
        self.assertTrue(spsolve.checkpoints(out))
        shutil.rmtree(out)
        self.addCleanup(signal.signal, signal.SIGHUP, signal.signal(signal.SIGHUP, signal.SIG_IGN))
        with spsolve.Job(file, cwd=self.directory) as job:
            job.wait_for(begun, "it began")
            job.process.send_signal(signal.SIGHUP)
            seen = rows.read_text().count("\n")
            job.wait_for(lambda: rows.read_text().count("\n") > seen + 3, "it goes on")
            job.process.send_signal(signal.SIGUSR1)
            self.finished(job.wait(), 75)

    def test_an_interrupt_that_is_ignored_stays_so(self):
        """Scripts start background processes with INT ignored."""
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.SIG_IGN))
        file = self.write(steps=ENDLESS, every=0)
        with spsolve.Job(file, cwd=self.directory) as job:
            rows = self.directory / "out" / "diagnostics.csv"
            row_count = lambda: rows.read_text().count("\n") if rows.exists() else 0
            job.wait_for(lambda: row_count() > 1, "it began")
            # Libraries that compile beside the first steps may have replaced the handler until then.
            job.wait_for(lambda: in_signal_set(job, "SigIgn", signal.SIGINT), "INT is ignored again")
            for _ in range(2):
                job.process.send_signal(signal.SIGINT)
            seen = row_count()
            job.wait_for(lambda: row_count() > seen + 3, "it goes on")
            job.process.send_signal(signal.SIGUSR1)
            self.assertIn("stopped by", self.finished(job.wait(), 75).out)

    def test_a_signal_before_the_first_step_counts(self):
        file = self.write(steps=ENDLESS)
        with spsolve.Job(file, cwd=self.directory) as job:
            # The signal is blocked from the first line of main on; before that the process would die.
            job.wait_for(lambda: in_signal_set(job, "SigBlk", signal.SIGUSR1), "it blocks signals")
            os.kill(job.process.pid, signal.SIGUSR1)
            self.finished(job.wait(), 75)
        self.check_restart(file, ranks=2)

    def test_usr2_writes_a_checkpoint_and_goes_on(self):
        file, out = self.write(steps=ENDLESS, every=0), self.directory / "out"
        with spsolve.Job(file, ranks=2, cwd=self.directory) as job:
            job.wait_for(lambda: spsolve.snapshots(out), "its first snapshot")
            os.kill(job.ranks()[0], signal.SIGUSR2)
            job.wait_for(lambda: spsolve.checkpoints(out), "a checkpoint")
            (step,) = spsolve.checkpoints(out)
            job.wait_for(lambda: max(spsolve.snapshots(out)) > step, "it goes on")
            self.assertEqual([*spsolve.checkpoints(out)], [step])
            os.kill(job.ranks()[0], signal.SIGUSR1)
            self.finished(job.wait(), 75)
        self.check_restart(file, "--set", "checkpoint.every=70")

    def test_wall_limit(self):
        file = self.write(steps=ENDLESS, every=0)
        begin = time.monotonic()
        limit = 3.0
        options = spsolve.settings(f"time.wall_limit_minutes={limit / 60}", "output.every=0", "diagnostics.every=0")
        result = self.run_to(75, file, *options, ranks=2)
        # The limit of a batch system does not cover the start of mpirun: only the run itself is known to have
        # kept it.
        self.assertIn("wall-time limit", result.out)
        (step,) = spsolve.checkpoints(self.directory / "out")
        self.assertGreater(time.monotonic() - begin, limit / 4, "it stopped long before its limit")
        self.run_to(0, file, "--restart", "latest", "--set", f"time.steps={step + 5}", ranks=1)
        self.run_to(0, file, "--output", "whole", *spsolve.settings(f"time.steps={step + 5}", "output.every=0", "diagnostics.every=0"))
        name = f"snapshot_{step + 5:010}.hdf"
        self.assertTrue((self.directory / "out" / name).exists())

    def test_checkpoints_by_the_clock(self):
        file = self.write(steps=ENDLESS, every=0, minutes=0.005, keep=1000)
        silent = spsolve.settings("output.every=0", "diagnostics.every=0")
        with spsolve.Job(file, *silent, ranks=2, cwd=self.directory) as job:
            job.wait_for(lambda: len(spsolve.checkpoints(self.directory / "out")) >= 3, "three checkpoints")
            os.kill(job.ranks()[0], signal.SIGUSR1)
            self.finished(job.wait(), 75)
        found = spsolve.checkpoints(self.directory / "out")
        first, last = min(found), max(found)
        self.run_to(0, file, *silent, "--restart", found[first], "--output", "again", "--set", f"time.steps={last}", ranks=3)
        self.assertEqual(spsolve.values(spsolve.snapshots(self.directory / "again")[last]).tobytes(), spsolve.values(found[last]).tobytes())

    def test_kill_at_random_moments(self):
        """Ranks are killed while they start, compute, and write the checkpoints that take most of the time."""
        file = self.write(steps=ENDLESS, every=5)
        newest = lambda: max(spsolve.checkpoints(self.directory / "out"), default=0)
        chance = random.Random(7)
        for attempt in range(8):
            with spsolve.Job(file, "--restart", "latest", ranks=chance.randint(1, 4), cwd=self.directory) as job:
                before = newest()
                job.wait_for(lambda: newest() > before if attempt % 3 else job.ranks(), "a checkpoint, or any rank")
                time.sleep(chance.uniform(0.0, 0.2))
                os.kill(chance.choice(job.ranks()), signal.SIGKILL)
                result = job.wait(longest=60)
            self.assertNotIn(result.status, (0, 2, 3, 4, 75), f"{result.out}\n{result.err}")
        self.check_restart(file, ranks=3)

    def check_damaged_checkpoint(self, damage):
        """Expects that a damaged checkpoint is passed over for an older one."""
        file = self.write()
        self.uninterrupted(file)
        self.run_to(0, file, "--set", "time.steps=300", ranks=2)
        damage(self.directory / "out" / "checkpoint_0000000280.h5")
        info = self.run_to(4 if damage is not impostor else 0, "info", "out/checkpoint_0000000280.h5")
        self.assertIn("checkpoint_0000000280.h5", info.out + info.err)
        result = self.restart(file, ranks=3)
        self.assertRegex(result.err, "passed over .*checkpoint_0000000280.h5")
        self.assertRegex(result.out, r"restarting from .*checkpoint_0000000210.h5 at step 210")
        self.assert_same_bits()

    def test_only_damaged_checkpoints(self):
        file = self.write()
        self.run_to(0, file, "--set", "time.steps=300", ranks=2)
        for path in spsolve.checkpoints(self.directory / "out").values():
            flip(path)
        result = self.run_to(4, file, "--restart", "latest", ranks=2)
        self.assertIn("no checkpoint there is whole", result.err)

    def test_restart_from_a_file(self):
        file = self.write()
        self.uninterrupted(file, ranks=2)
        checkpoint = self.directory / "whole" / "checkpoint_0000000280.h5"
        self.run_to(0, file, "--restart", "whole/checkpoint_0000000280.h5", "--output", "elsewhere", ranks=3)
        for name in ("snapshot_0000000300.hdf", "snapshot_0000000400.hdf"):
            self.assertEqual((self.directory / "elsewhere" / name).read_bytes(), (self.directory / "whole" / name).read_bytes())
        rows = [row["step"] for row in spsolve.diagnostics(self.directory / "elsewhere")]
        self.assertEqual(rows, list(range(300, 401, 20)))
        self.run_to(2, file, "--restart", "missing.h5", "--output", "nowhere")
        self.run_to(2, file, "--restart", checkpoint, "--output", "nowhere", "--set", "time.steps=100")
        self.assertFalse((self.directory / "nowhere").exists())

    def test_another_directory_keeps_the_rows_of_its_probes(self):
        """A run that began at a checkpoint of another directory is stopped twice. Its rows are those of a run that never stopped."""
        places = [{"name": "p", "at": [[3.0, 4.5], [0.0, 1.0]]}, {"name": "q", "at": [2.0, 2.0], "every": 7}]
        file = spsolve.write_input(self.directory / "problem.toml", {**problem(), "probes": places, "checkpoint": {"every": 40, "keep": 10}})
        self.uninterrupted(file)
        self.run_to(0, file, "--restart", "whole/checkpoint_0000000080.h5", "--set", "time.steps=130")
        self.restart(file, "--set", "time.steps=210", ranks=2)
        self.restart(file)
        with h5py.File(self.directory / "whole/probes.h5") as whole, h5py.File(self.directory / "out/probes.h5") as parts:
            for group, every in (("p", 1), ("q", 7)):
                rows = np.arange(0, 401, every)
                np.testing.assert_array_equal(parts[group]["step"], np.where(rows > 80, rows, -1))
                for name in ("u", "time"):
                    np.testing.assert_array_equal(parts[group][name][rows > 80], whole[group][name][rows > 80])

    def test_restart_at_the_last_step_writes_what_a_run_to_there_leaves(self):
        """Snapshots, streams, and a row of diagnostics. The change of the last step is only known if the checkpoint holds two time
        levels."""
        heat = problem()
        wave = {**{section: heat[section] for section in ("output", "diagnostics", "checkpoint")}, "grid": {"shape": [37, 61]},
                "fields.p": {"initial": "cos(x/5)*sin(y/4)"}, "time": {"steps": STEPS},
                "equations": {"step": "p.next = 2*p - p.previous + 0.1*laplace(p)"}}
        for name, sections in (("heat", heat), ("wave", wave)):
            with self.subTest(name=name):
                file = spsolve.write_input(self.directory / f"{name}.toml", {
                    **sections, "outputs": [{"name": "coarse", "every": 60, "stride": 2, "precision": "fp64"}]})
                end, out, whole = ["--set", "time.steps=350"], self.directory / name, self.directory / f"{name}_whole"
                self.run_to(0, file, "--output", out, ranks=2)
                for restart in ("latest", out / "checkpoint_0000000350.h5"):  # the second has a row already
                    self.run_to(0, file, "--output", out, "--restart", restart, *end)
                self.run_to(0, file, "--output", whole, *end)
                files = [path.name for path in whole.iterdir() if path.name.startswith(("snapshot", "coarse"))]
                self.assertIn("coarse_0000000350.hdf", files)
                for name_of_file in files:
                    self.assertEqual((out / name_of_file).read_bytes(), (whole / name_of_file).read_bytes(), name_of_file)
                rows, wanted = spsolve.diagnostics(out), spsolve.diagnostics(whole)
                if name == "heat":
                    self.assertTrue(np.isnan(rows[-1].pop("change_l2")) and np.isfinite(wanted[-1].pop("change_l2")))
                self.assertEqual(rows, wanted)

    def test_going_back_leaves_nothing_of_later_steps(self):
        """Results beyond the step from which a run continues must be removed, even if it ends before it reaches them."""
        file, out = self.write(), self.directory / "out"
        self.uninterrupted(file, "--set", "time.steps=230")
        for ranks in (None, 3):
            self.run_to(0, file, "--overwrite", ranks=ranks)
            self.assertEqual(sorted(spsolve.checkpoints(out)), [210, 280, 350])
            self.run_to(0, file, "--restart", "out/checkpoint_0000000210.h5", "--set", "time.steps=230", ranks=ranks)
            self.assert_same_bits()
            self.assertEqual(sorted(spsolve.checkpoints(out)), [210])
            self.assertEqual(sorted(spsolve.snapshots(out)), [0, 50, 100, 150, 200, 230])
            series = [entry["name"] for entry in json.loads((out / "snapshots.hdf.series").read_text())["files"]]
            self.assertEqual(series, [path.name for path in spsolve.snapshots(out).values()])
            self.assertIn("at step 210", self.restart(file, "--set", "time.steps=230", ranks=ranks).out)
        # Without a checkpoint the run begins anew.
        for path in spsolve.checkpoints(out).values():
            path.unlink()
        result = self.restart(file, "--set", "time.steps=90")
        self.assertRegex(result.err, "has reached step 230, without a checkpoint there: steps from 0 on are computed again")
        self.assertEqual(sorted(spsolve.snapshots(out)), [0, 50, 90])

    def test_a_series_names_no_file_that_going_back_has_removed(self):
        """This must hold before the first new snapshot, too: the run may be killed, or take hours to get there."""
        file, out = self.write(), self.directory / "out"
        stream = ["--set", 'outputs=[{name="coarse", every=50, stride=2}]']
        self.run_to(0, file, *stream)
        with spsolve.Job(file, *stream, "--restart", "out/checkpoint_0000000210.h5", *spsolve.settings(f"time.steps={ENDLESS}", "output.every=90000000", "checkpoint.every=0"),
                         cwd=self.directory) as job:
            # Only the snapshot stays removed: the stream writes step 350 again when the run reaches it.
            job.wait_for(lambda: not (out / "snapshot_0000000350.hdf").exists(), "files of later steps were removed")
            job.process.kill()
            job.wait()
        for name in ("snapshots", "coarse"):
            series = [entry["name"] for entry in json.loads((out / f"{name}.hdf.series").read_text())["files"]]
            self.assertTrue(series)
            self.assertEqual([name for name in series if not (out / name).exists()], [])

    def test_final_checkpoint(self):
        """With a final checkpoint a longer run continues from the end of a shorter one."""
        file = self.write(every=0, keep=1)
        final = ["--set", "checkpoint.final=true"]
        self.uninterrupted(file, *final)
        self.assertIn("no checkpoint of step 100: a longer run would begin at step 0 again", self.run_to(0, file, "--set", "time.steps=100").out)
        result = self.run_to(0, file, *final, "--overwrite", "--set", "time.steps=200", ranks=2)
        self.assertNotIn("no checkpoint", result.out)
        self.assertEqual(sorted(spsolve.checkpoints(self.directory / "out")), [200])
        result = self.restart(file, *final, ranks=3)
        self.assertIn("at step 200", result.out)
        self.assertEqual(result.err, "")
        self.assert_same_bits()
        self.assertEqual(sorted(spsolve.checkpoints(self.directory / "out")), [STEPS])

    def test_restart_of_a_finished_run_leaves_its_report(self):
        file, end = self.write(steps=140), ["--set", "time.steps=70"]
        report = self.directory / "out" / "run.json"
        self.run_to(0, file, ranks=2)
        before = {path: path.read_bytes() for path in report.parent.iterdir()}
        for damaged in (False, True):
            result = self.restart(file, ranks=2)
            self.assertIn("nothing left to do: step 140 is the last", result.out)
            self.assertNotIn("GStencil/s", result.out)
            if not damaged:
                self.assertEqual(before, {path: path.read_bytes() for path in report.parent.iterdir()})
                truncate(report)
        self.assertEqual(json.loads(report.read_text())["gstencil_per_s"], None)
        self.run_to(0, file, *end, "--restart", "out/checkpoint_0000000070.h5")  # a shorter run: the report was not of its end
        self.assertEqual(json.loads(report.read_text())["last_step"], 70)

    def test_restart_in_a_new_directory_begins_at_the_beginning(self):
        file = self.write()
        self.uninterrupted(file)
        result = self.restart(file, ranks=2)
        self.assertIn("starting from the beginning", result.out)
        self.assert_same_bits()

    def files(self, out="out"):
        return {path.name: path.read_bytes() for path in (self.directory / out).iterdir()}

    def test_results_of_another_problem_are_not_continued(self):
        """Without a checkpoint run.json identifies the problem; without run.json the results might belong to any problem."""
        file, other = self.write(every=0), ["--set", "initial.expression='x'"]
        self.run_to(0, file, ranks=2)
        before = self.files()
        for change, named in (("initial.expression='x'", "[initial]"), ("stencil.weights=[[1.0]]", "weights"), ("compute.precision='fp32'", "precision")):
            with self.subTest(change):
                result = self.run_to(2, file, "--restart", "latest", "--set", change, ranks=2)
                self.assertIn("run.json is of a run of another problem: " if named != "weights" else named, result.err)
                self.assertIn(named, result.err)
                self.assertNotIn("starting from the beginning", result.out)
        self.assertTrue(before == self.files(), "files have changed")
        self.restart(file)
        (self.directory / "out" / "run.json").unlink()
        self.assertIn("files of another run", self.run_to(2, file, "--restart", "latest").err)
        self.restart(file, *other, "--overwrite", "--set", "time.steps=60")
        self.run_to(0, file, *other, "--output", "whole", "--set", "time.steps=60")
        self.assertEqual(*({name: text for name, text in self.files(out).items() if name != "run.json"} for out in ("out", "whole")))

    def test_checkpoints_of_another_problem_are_overwritten_if_asked(self):
        """Requeued jobs give both options: --restart latest --overwrite."""
        file, other = self.write(), ["--set", "initial.expression='x'"]
        both = ["--restart", "latest", "--overwrite"]
        self.run_to(0, file, ranks=2)
        self.assertIn("checkpoint of another problem", self.run_to(2, file, *other, "--restart", "latest").err)
        self.assertIn("[initial]", self.run_to(0, file, *other, *both, ranks=2).err)
        self.run_to(0, file, *other, "--output", "whole")
        self.assert_same_bits()
        self.assertIn("restarting from", self.run_to(0, file, *other, *both).out)

    def test_a_checkpoint_from_elsewhere_continues_no_other_results(self):
        file = self.write()
        checkpoint = "whole/checkpoint_0000000280.h5"
        self.uninterrupted(file)
        self.run_to(0, file, "--set", "initial.expression='x'")
        before = self.files()
        self.assertIn("files of another run", self.run_to(2, file, "--restart", checkpoint, ranks=2).err)
        self.assertTrue(before == self.files(), "files have changed")
        self.run_to(0, file, "--restart", checkpoint, "--overwrite")
        self.assertEqual(sorted(spsolve.snapshots(self.directory / "out")), [300, 350, 400])

    def test_a_run_that_died_before_its_first_checkpoint_begins_anew(self):
        file = self.write(every=0)
        self.uninterrupted(file)
        rows = self.directory / "out" / "diagnostics.csv"
        with spsolve.Job(file, "--set", f"time.steps={ENDLESS}", ranks=2, cwd=self.directory) as job:
            job.wait_for(lambda: rows.exists() and rows.read_text().count("\n") > 1, "it began")
            os.kill(job.ranks()[0], signal.SIGKILL)
            job.wait()
        report = self.directory / "out" / "run.json"
        self.assertIs(json.loads(report.read_text())["finished"], False)
        for path in spsolve.snapshots(self.directory / "out").values():
            path.unlink()  # those beyond the end of the shorter run
        result = self.restart(file, ranks=2)
        self.assertIn("starting from the beginning", result.out)
        for name in ("diagnostics.csv", f"snapshot_{STEPS:010}.hdf"):
            self.assertEqual(*((self.directory / where / name).read_bytes() for where in ("out", "whole")))
        self.assertIs(json.loads(report.read_text())["finished"], True)

    def test_weights_count_and_not_where_they_lie(self):
        """A directory may be moved between runs; its weights may not be changed."""
        def write_weights(path, last):
            with h5py.File(path, "w") as data:
                data["w"] = [[0.02, 0.1, 0.0], [0.3, 0.3, 0.1], [0.08, 0.05, last]]
                data["s"] = np.full((37, 61), 0.01)
        here, there = self.directory / "here", self.directory / "there"
        here.mkdir()
        write_weights(here / "data.h5", 0.04)
        sections = {**problem(), "stencil": {"file": "data.h5", "dataset": "w"}, "source": {"file": "data.h5", "dataset": "s"}}
        file = spsolve.write_input(here / "problem.toml", sections)
        self.uninterrupted(file)
        self.run_to(0, file, "--set", "time.steps=200")
        here.rename(there)
        self.restart(there / "problem.toml", ranks=2)
        self.assert_same_bits()
        write_weights(there / "data.h5", 0.05)
        self.assertIn("weights", self.run_to(2, there / "problem.toml", "--restart", "latest", "--set", "time.steps=500").err)

    def test_values_of_datasets_count_and_not_their_names(self):
        """Other values under one name make another problem; the same values under another name do not."""
        def write_values(name, initial, source):
            with h5py.File(self.directory / name, "w") as data:
                data.create_dataset("u", data=np.full((37, 61), initial), chunks=(5, 7))
                data["s"] = np.full((37, 61), source, "f4")
        def field(name, dataset):
            return {"file": name, "dataset": dataset}
        write_values("data.h5", 1.0, 0.25)
        file = spsolve.write_input(self.directory / "problem.toml", {**problem(), "initial": field("data.h5", "u"), "source": field("data.h5", "s")})
        self.uninterrupted(file)
        self.run_to(0, file, "--set", "time.steps=200", ranks=3)
        before = self.files()
        for initial, source, named in ((1.0, 0.5, "source"), (2.0, 0.25, "initial"), (2.0, 0.5, "initial.*source")):
            write_values("data.h5", initial, source)
            for ranks in (None, 2):
                result = self.run_to(2, file, "--restart", "latest", ranks=ranks)
                self.assertRegex(result.err, rf"checkpoint of another problem: .*{named}")
        self.assertTrue(before == self.files(), "files have changed")
        write_values("moved.h5", 1.0, 0.25)
        (self.directory / "data.h5").unlink()
        moved = spsolve.settings("source.file='moved.h5'", "initial.file='gone.h5'")
        self.assertIn("initial", self.run_to(2, file, *moved, "--restart", "latest").err)  # nobody can say what was in it
        self.restart(file, "--set", "source.file='moved.h5'", ranks=2)  # the initial values are needed no more
        self.assert_same_bits()

    def test_values_count_before_the_first_checkpoint_too(self):
        def write_values(value):
            with h5py.File(self.directory / "data.h5", "w") as data:
                data["u"] = np.full((37, 61), value)
        write_values(1.0)
        file = spsolve.write_input(self.directory / "problem.toml", {**problem(every=0), "source": {"file": "data.h5", "dataset": "u"}})
        self.run_to(0, file, "--set", "time.steps=20")
        write_values(2.0)
        self.assertRegex(self.run_to(2, file, "--restart", "latest").err, r"run of another problem: .*\[source\]")

    def test_rates_of_datasets_are_the_same_after_a_restart(self):
        with h5py.File(self.directory / "data.h5", "w") as data:
            data["u"] = np.linspace(0, 1, 37 * 61).reshape(37, 61)
        source = {"file": "data.h5", "dataset": "u", "rate": True}
        sections = {**problem(), "source": source}
        sections["time"] = {**sections["time"], "dt": 0.25}
        file = spsolve.write_input(self.directory / "problem.toml", sections)
        self.run_to(0, file, "--set", "time.steps=200")
        self.run_to(0, file, "--restart", "latest", "--set", "time.steps=210", ranks=2)
        self.assertIn("dt", self.run_to(2, file, "--restart", "latest", "--set", "time.dt=0.5").err)

    def test_datasets_of_points_and_walls_count(self):
        """Places and values over time, and values along a wall, by their contents; a longer run may have a longer dataset."""
        def write_tables(name="data.h5", at=3.0, signal=1.0, wall=1.0, steps=300, changed_from=0):
            with h5py.File(self.directory / name, "w") as data:
                data["at"] = [[at, 4.0], [5.0, 6.0]]
                data["signal"] = np.where(np.arange(steps) < changed_from, 1.0, signal)
                data["wall"] = np.full(61, wall)
        def of(dataset, name="data.h5"):
            return {"file": name, "dataset": dataset}
        def write(name="data.h5"):
            sections = {**problem(), "time": {"steps": STEPS}, "boundary": {"y": {"low": {"value": of("wall", name)}, "high": "neumann"}},
                        "point_sources": [{"field": "u", "at": of("at", name), "value": of("signal", name)}],
                        "probes": [{"name": "m", "at": of("at", name)}]}
            return spsolve.write_input(self.directory / "problem.toml", sections)
        write_tables()
        file = write()
        self.run_to(0, file, "--set", "time.steps=200")
        before = self.files()
        for change, named in (({"at": 2.0}, r"\[\[point_sources\]\]"), ({"signal": 2.0}, r"\[\[point_sources\]\]"), ({"wall": 2.0}, "boundary")):
            write_tables(**change)
            for ranks in (None, 2):
                self.assertRegex(self.run_to(2, file, "--restart", "latest", ranks=ranks).err, f"another problem: .*{named}")
        self.assertTrue(before == self.files(), "files have changed")
        (self.directory / "data.h5").unlink()
        write_tables("moved.h5", steps=400, signal=7.0, changed_from=200)  # the first run was to take 200 steps
        self.run_to(0, write("moved.h5"), "--restart", "latest", "--set", "time.steps=400", ranks=2)

    def test_equations_count_and_not_how_they_are_written(self):
        """Statements are compared to their ends, whatever form of them a version computes."""
        def write(step, factor=1.0):
            with h5py.File(self.directory / "weights.h5", "w") as data:
                data["w"] = factor * np.array([0.1, 0.7, 0.1])
            return spsolve.write_input(self.directory / "problem.toml", {
                "grid": {"shape": [40]}, "coefficients": {"k": "x", "m": "1 + x"}, "fields.u": {"initial": "x"}, "equations": {"step": step},
                **({"stencils.w": {"file": "weights.h5", "dataset": "w"}} if "w" in step else {}), "time": {"steps": 10}, "output": {"directory": "out"}})
        waves = " + ".join(f"sin({i}*k)" for i in range(1, 80))  # one coefficient, too long for a text that `check` shows
        step = f"a = {waves}; u.next = 0.5*correlate(w, u) + 1e-3*m*(a)"
        report = self.directory / "out" / "run.json"
        for checkpoints in ([], ["--set", "checkpoint.final=true"]):  # by run.json, and by a checkpoint
            with self.subTest(checkpoints):
                self.run_to(0, write(step), "--overwrite", *checkpoints)
                self.run_to(0, write(f"c = 1e-3*m; b = ({waves}); u.next = 0.5*correlate(w, u) + c*b;"), "--restart", "latest")
                for changed in (step.replace("sin(79*k)", "cos(79*k)"), step.replace("sin(2*k)", "sin(2*m)")):
                    self.assertIn("what [equations] computes differ(s)", self.run_to(2, write(changed), "--restart", "latest").err)
                self.assertIn("the weights of [stencils] differ(s)", self.run_to(2, write(step, 1.1), "--restart", "latest").err)
        self.run_to(0, write("u.next = 0.9*u"), "--overwrite")
        stored = json.loads(report.read_text())
        report.write_text(json.dumps({**stored, "weights_checksum": "of the form that another version computes"}))
        self.run_to(0, write("u.next = 0.9*u"), "--restart", "latest")

    def test_weights_of_stencils_count_and_not_their_names_and_places(self):
        """Statements read weights, which may lie in a file or in the input."""
        forms = {"file": {"file": "weights.h5", "dataset": "w"}, "other": {"file": "weights.h5", "dataset": "v"},
                 "inline": {"weights": [0.1, 0.7, 0.1]}, "one": {"weights": [1.0]}, "moved": {"weights": [0.1, 0.7, 0.1], "center": [0]}}
        def write(step="u.next = correlate(w, u)", in_file=0.7, **stencils):
            with h5py.File(self.directory / "weights.h5", "w") as data:
                data["w"], data["v"] = [0.1, in_file, 0.1], [0.2, 0.5, 0.2]
            sections = {f"stencils.{name}": forms[form] for name, form in (stencils or {"w": "file", "v": "other"}).items()}
            return spsolve.write_input(self.directory / "problem.toml", {
                "grid": {"shape": [40]}, "fields.u": {"initial": "x"}, "equations": {"step": step}, **sections,
                "time": {"steps": 10}, "output": {"directory": "out"}})
        renamed = "u.next = correlate(a, u)"
        equations, weights = "what [equations] computes differ(s)", "the weights of [stencils] differ(s)"
        report = self.directory / "out" / "run.json"
        for checkpoints in ([], ["--set", "checkpoint.final=true"]):  # by run.json, and by a checkpoint
            for begin, others in (({}, [{}, {"a": "file", "step": renamed}, {"w": "inline"}, {"w": "file"}]),
                                  ({"w": "inline"}, [{"w": "file"}, {"a": "inline", "step": renamed}, {"w": "inline", "v": "other"}])):
                self.run_to(0, write(**begin), "--overwrite", *checkpoints)
                for change, named in (({"step": "u.next = correlate(v, u)"}, equations), ({"a": "other", "step": renamed}, equations),
                                      ({"w": "one", "v": "other"}, weights), ({"w": "moved"}, weights), ({"w": "other"}, weights), ({"in_file": 0.8}, weights)):
                    with self.subTest(begin=begin, change=change, checkpoints=checkpoints):
                        error = self.run_to(2, write(**change), "--restart", "latest").err
                        self.assertIn(f"another problem: {named}", error)
                for change in others:
                    with self.subTest(begin=begin, change=change, checkpoints=checkpoints):
                        self.run_to(0, write(**change), "--restart", "latest")

    def test_runs_without_checksums_of_weights_continue(self):
        """Former versions wrote one checksum, that of the canonical form of all equations."""
        def write(weight=0.7, name="w"):
            with h5py.File(self.directory / "weights.h5", "w") as data:
                data["w"] = [0.1, weight, 0.1]
            return spsolve.write_input(self.directory / "problem.toml", {
                "grid": {"shape": [40]}, "fields.u": {"initial": "x/100"}, f"stencils.{name}": {"file": "weights.h5", "dataset": "w"},
                "equations": {"step": f"u.next = {term.format(name)}"}, "time": {"steps": 10}, "output": {"directory": "out"}})
        report = self.directory / "out" / "run.json"
        for term, former in (("correlate({}, u)", "51ad52a11de88833"), ("correlate({}, u)*u", "48975c104b105234")):  # a single stencil, and a system
            with self.subTest(term):
                self.run_to(0, write(), "--overwrite")
                stored = json.loads(report.read_text())
                self.assertEqual(stored["weights_checksum"], former)
                del stored["value_checksums"]["stencils.w"]
                report.write_text(json.dumps(stored))
                self.assertIn("what [equations] computes differ(s)", self.run_to(2, write(0.8), "--restart", "latest").err)
                self.run_to(0, write(name="v"), "--restart", "latest")

    def test_stencils_between_filled_walls_are_named_as_stencils(self):
        """spsolve turns an input with filled walls into equations, which its user has not written."""
        file = self.write(every=0)
        walls = spsolve.settings("boundary.y={value=0.5}", "checkpoint.final=true", "time.fuse=1")
        self.run_to(0, file, *walls, "--set", "time.steps=20")
        error = self.run_to(2, file, *walls, "--restart", "latest", "--set", "stencil.weights=[[1.0]]").err
        self.assertRegex(error, r"another problem: the weights of \[stencil\] differ\(s\) .* use \[initial\] file = ")
        error = self.run_to(2, file, "--restart", "latest", "--set", "time.fuse=1").err
        self.assertIn("[boundary] or [source]", error)
        self.assertNotIn("[equations]", error)

    @unittest.skipUnless(shutil.which("cc"), "needs a C compiler")
    def test_coefficients_are_read_once_and_count(self):
        """A restart needs no initial values, and compares coefficients when it reads them."""
        def write_values(factor=1.0):
            with h5py.File(self.directory / "data.h5", "w") as data:
                data["k"] = factor * np.random.default_rng(1).uniform(0, 0.2, (100, 200))
        source, library, counts = (self.directory / name for name in ("count.c", "count.so", "counts"))
        source.write_text(COUNT_READ_BYTES)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        def read_by(*arguments):
            counts.unlink(missing_ok=True)
            self.run_to(0, *arguments, environment={"LD_PRELOAD": str(library), "SPSOLVE_COUNTS": str(counts)})
            return sum(map(int, counts.read_text().split())) / (8 * 100 * 200)
        for step in ("u.next = u + k*laplace(u)", "u.next = u + 0.1*laplace(u)"):
            write_values()
            file = spsolve.write_input(self.directory / "case.toml", {
                "grid": {"shape": [100, 200]}, "coefficients": {"k": {"file": "data.h5", "dataset": "k"}}, "fields.u": {"initial": "sin(x)"},
                "equations": {"step": step}, "time": {"steps": 10}, "compute": {"device": "cpu"}, "output": {"directory": "out"},
                "checkpoint": {"every": 5}, "diagnostics": {"sums": {"total": "k*u"}}})
            begun = read_by(file, "--overwrite")
            again = read_by(file, "--restart", "latest", "--set", "time.steps=20")
            self.assertLess(again, begun + 0.5)
            before = self.files()
            write_values(2.0)
            for ranks in (None, 3):
                result = self.run_to(2, file, "--restart", "latest", "--set", "time.steps=30", ranks=ranks)
                self.assertIn("is a checkpoint of another problem: coefficients.k differ(s) from the input", result.err)
            self.assertTrue(before == self.files(), "files have changed")

    def test_probes_of_a_dataset_are_compared_by_their_places(self):
        def write_places(at):
            with h5py.File(self.directory / "data.h5", "w") as data:
                data["at"] = [[at, 4.0]]
        sections = {**problem(), "probes": [{"name": "m", "at": {"file": "data.h5", "dataset": "at"}}]}
        file = spsolve.write_input(self.directory / "problem.toml", sections)
        write_places(3.0)
        self.run_to(0, file, "--set", "time.steps=200")
        write_places(5.0)
        self.assertIn("[[probes]] are others", self.run_to(2, file, "--restart", "latest").err)
        write_places(3.0)
        self.run_to(0, file, "--restart", "latest", "--set", "time.steps=210")

    def test_all_fields_are_the_same_named_or_not(self):
        def write(fields, steps):
            chosen = {"fields": fields} if fields else {}
            return spsolve.write_input(self.directory / "problem.toml", {
                "grid": {"shape": [9, 14]}, "fields": {"u": {"initial": "x"}, "v": {"initial": "y"}}, "equations": {"step": "u.next = 0.9*u; v.next = u"},
                "time": {"steps": steps}, "checkpoint": {"final": True}, "output": {"directory": "out", **chosen},
                "outputs": [{"name": "all", **chosen}], "probes": [{"name": "p", "at": [1.0, 2.0], **chosen}]})
        self.run_to(0, write([], 10))
        for steps, fields in ((20, ["u", "v"]), (30, ["v", "u"]), (40, [])):
            self.run_to(0, write(fields, steps), "--restart", "latest")
        refused = self.run_to(2, write(["u"], 50), "--restart", "latest").err
        for section in ("[[outputs]] are others", "[[probes]] are others", "output.fields is another list"):
            self.assertIn(section, refused)

    def test_images_of_one_name_show_one_thing(self):
        def write(**keys):
            return spsolve.write_input(self.directory / "problem.toml", {**problem(), "images": [{"name": "i", "value": "u", "every": 50, **keys}]})
        self.run_to(0, write(), "--set", "time.steps=200")
        self.assertIn("[[images]] of one name", self.run_to(2, write(value="u^2"), "--restart", "latest").err)
        self.run_to(0, write(colormap="magma"), "--restart", "latest", "--set", "time.steps=210")

    def test_images_of_one_name_have_one_field_and_plane(self):
        def write(**keys):
            return spsolve.write_input(self.directory / "problem.toml", {
                "grid": {"shape": [6, 7, 8]}, "fields": {"u": {"initial": "x"}, "v": {"initial": "y"}}, "equations": {"step": "u.next = 0.9*u; v.next = v"},
                "time": {"steps": 10}, "checkpoint": {"final": True}, "output": {"directory": "out"},
                "images": [{"name": "i", "value": "u", "every": 5, "plane": {"z": 2.0}, **keys}]})
        self.run_to(0, write())
        before = self.files()
        for change in ({"value": "v"}, {"plane": {"z": 3.0}}, {"plane": {"x": 2.0}}):  # the last has another size
            self.assertIn("[[images]] of one name show something else", self.run_to(2, write(**change), "--restart", "latest", "--set", "time.steps=20").err)
            self.assertTrue(before == self.files(), "files have changed")
        self.run_to(0, write(every=10), "--restart", "latest", "--set", "time.steps=20")
        self.run_to(0, write(name="other", value="v"), "--restart", "latest", "--set", "time.steps=30")

    def test_snapshots_of_one_series_have_one_shape_and_precision(self):
        file = self.write()
        self.run_to(0, file, "--set", "time.steps=200")
        before = self.files()
        for change, named in (("output.stride=2", "output.stride is 2, not 1"), ("output.precision=fp32", "output.precision is fp32, not fp64")):
            for option in ([], ["--overwrite"]):
                result = self.run_to(2, file, "--restart", "latest", "--set", change, *option, ranks=2)
                self.assertIn(named, result.err)
                self.assertNotIn("finished", result.out)
            self.assertTrue(before == self.files(), "files have changed")
            self.run_to(0, file, "--restart", "out/checkpoint_0000000140.h5", "--set", change, "--output", "elsewhere", "--overwrite")
        def stream(region):
            return spsolve.settings('outputs=[{name="part", every=50, region={x=%s}}]' % region)
        self.run_to(0, file, "--set", "time.steps=200", "--overwrite", *stream([0, 20]))
        before = self.files()
        for region in ([0, 30], [1, 21]):  # the latter has the same size
            self.assertIn("[[outputs]] are others", self.run_to(2, file, "--restart", "latest", *stream(region), ranks=2).err)
            self.assertTrue(before == self.files(), "files have changed")
        self.run_to(0, file, "--restart", "latest", "--set", "time.steps=250", *stream([0, 20]))
        # Without any snapshot so far no results can be mixed.
        early = spsolve.settings("output.every=0", "checkpoint.every=30")
        with self.start(file, *early, *spsolve.settings(f"time.steps={ENDLESS}"), ranks=2) as job:
            os.kill(job.ranks()[0], signal.SIGUSR1)
            self.finished(job.wait(), 75)
        step = max(spsolve.checkpoints(self.directory / "out"))
        self.restart(file, *early, *spsolve.settings("output.stride=2", f"time.steps={step + 10}"))

    def test_values_that_were_computed_coarsely_do_not_pass_for_others(self):
        file = self.write()
        accurate = ["--set", "compute.accuracy=0.05"]
        self.run_to(0, file, *accurate, "--set", "time.steps=100")
        stored = spsolve.values(max(spsolve.checkpoints(self.directory / "out").values())).dtype.itemsize
        if stored == 8 and spsolve.ON_GPU:
            self.skipTest("launches take most of the time on so small a grid: this GPU is as fast in fp64")
        self.assertLess(stored, 8)
        self.assertIn("accuracy", self.run_to(2, file, "--restart", "latest", ranks=2).err)
        self.restart(file, *accurate, ranks=2)

    def test_checkpoint_of_another_problem_is_refused(self):
        file = self.write()
        self.run_to(0, file, "--set", "time.steps=100")
        before = {path: path.read_bytes() for path in (self.directory / "out").iterdir()}
        for change, named in (("grid.shape=[37,62]", "shape"), ("boundary.y='neumann'", "boundary"),
                              ("stencil.weights=[[1.0]]", "stencil"), ("compute.precision='fp32'", "precision"),
                              ("source.expression='0'", "source"), ("initial.expression='x'", "initial"), ("grid.spacing=[1.0,2.0]", "spacing"),
                              ("grid.origin=[0.0,2.0]", "origin")):
            with self.subTest(change):
                result = self.run_to(2, file, "--restart", "latest", "--set", change, ranks=2)
                self.assertIn(named, result.err)
        self.assertTrue(before == {path: path.read_bytes() for path in (self.directory / "out").iterdir()}, "files have changed")

    def test_other_time_step_of_the_same_weights_is_refused(self):
        def write(diffusivity, dt):
            return spsolve.write_input(self.directory / "problem.toml", {
                **problem(steps=100), "stencil": {"preset": "heat", "diffusivity": diffusivity, "dt": dt}})
        self.run_to(0, write(0.125, 1.0))
        self.assertIn("dt", self.run_to(2, write(0.25, 0.5), "--restart", "latest", ranks=2).err)


for precision, element_bytes in (("fp64", 8), ("fp32", 4), ("tf32", 4), ("bf16", 2), ("fp16", 2)):
    setattr(Restart, f"test_shorter_run_and_restart_in_{precision}",
            lambda self, each=(precision, element_bytes): self.check_shorter_run_and_restart(*each))
for damage in (truncate, flip, root_header, empty, impostor):
    setattr(Restart, f"test_checkpoint_damaged_by_{damage.__name__}_is_passed_over",
            lambda self, damage=damage: self.check_damaged_checkpoint(damage))

if __name__ == "__main__":
    unittest.main()
