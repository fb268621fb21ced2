# SPDX-License-Identifier: Apache-2.0
"""Ranks on two hosts: network namespaces of this machine with names of their own, joined by a cable that can be cut. The tests need
root, and mpirun of Open MPI 4, which reaches the second host by a program of this file instead of ssh."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import h5py
import numpy as np

import spsolve

HOSTS = {"spsolvea": "10.77.0.1", "spsolveb": "10.77.0.2"}
NAMESPACES = ["--net", "--uts", "--mount"]
CORES = sorted(os.sched_getaffinity(0))
# The cores of each host; a machine of one core has it on both.
HALF = max(len(CORES) // 2, 1)
HOST_CORES = {"spsolvea": CORES[:HALF], "spsolveb": CORES[-HALF:]}
# mpirun then notices within 2 s that it cannot reach a host, before spsolve does, and lets ranks say where they are for a second.
KEEPALIVE = [word for name in ("oob_tcp_keepalive_time", "oob_tcp_keepalive_intvl", "oob_tcp_keepalive_probes", "odls_base_sigkill_timeout")
             for word in ("--mca", name, "1")]


class Hosts:
    """Provides the hosts, in a with statement. `processes` hold their namespaces."""

    def __init__(self, directory):
        self.directory, self.processes = directory, {}

    def __enter__(self):
        table = self.directory / "hosts"
        table.write_text("127.0.0.1 localhost\n" + "".join(f"{address} {host}\n" for host, address in HOSTS.items()))
        try:
            for host in HOSTS:
                self.processes[host] = process = subprocess.Popen(
                    ["unshare", *NAMESPACES, "sh", "-c", f"hostname {host} && mount --bind {table} /etc/hosts && ip link set lo up && "
                     "echo ready && exec sleep 1000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                if process.stdout.readline() != "ready\n":
                    raise unittest.SkipTest(f"no namespaces can be made here: {process.stderr.read().strip()}")
            a, b = (str(self.processes[host].pid) for host in HOSTS)
            cable = subprocess.run(["ip", "link", "add", "cable", "netns", a, "type", "veth", "peer", "name", "cable", "netns", b],
                                   capture_output=True, text=True)
            if cable.returncode:
                raise unittest.SkipTest(f"no network can be made here: {cable.stderr.strip()}")
            for host, address in HOSTS.items():
                self.run(host, "ip", "address", "add", f"{address}/24", "dev", "cable")
            self.connect()
        except BaseException:
            self.__exit__()
            raise
        agent = self.directory / "agent"
        places = "".join(f"{host}) enter='{' '.join(self.enter(host))}';; " for host in HOSTS)
        agent.write_text(f'#!/bin/sh\ncase $1 in {places}esac\nshift\nexec $enter sh -c "$*"\n')
        agent.chmod(0o755)
        return self

    def __exit__(self, *_):
        self.end_all()
        for process in self.processes.values():
            process.kill()
            process.communicate()

    def end_all(self):
        """Kills launchers, their daemons and ranks."""
        for pid in self.members(lambda place: int(place.name) not in [process.pid for process in self.processes.values()]):
            os.kill(pid, signal.SIGKILL)

    def enter(self, host):
        cores = ",".join(map(str, HOST_CORES[host]))
        return ["nsenter", "-t", str(self.processes[host].pid), *NAMESPACES, "taskset", "-c", cores]

    def run(self, host, *command):
        subprocess.run([*self.enter(host), *command], check=True)

    def connect(self):
        """Plugs the cable in, and waits until the first host answers the second, even with a refusal."""
        for host in HOSTS:
            self.run(host, "ip", "link", "set", "cable", "up")
        ask = ("import errno, socket, sys, time\n"
               "for _ in range(100):\n"
               "    with socket.socket() as asking:\n"
               "        asking.settimeout(1)\n"
               f"        if asking.connect_ex(('{HOSTS['spsolvea']}', 9)) == errno.ECONNREFUSED:\n"
               "            sys.exit(0)\n"
               "    time.sleep(0.1)\n"
               "sys.exit('the first host does not answer')\n")
        self.run("spsolveb", sys.executable, "-c", ask)

    def cut(self):
        self.run("spsolvea", "ip", "link", "set", "cable", "down")

    def members(self, belongs, host=None):
        """Returns the ids of the processes of one host or of both for which belongs(/proc/<id>) holds."""
        wanted = {os.readlink(f"/proc/{process.pid}/ns/net") for name, process in self.processes.items()
                  if host in (None, name) and process.poll() is None}
        found = []
        for place in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(place / "ns/net") in wanted and belongs(place):
                    found.append(int(place.name))
            except OSError:
                pass
        return [pid for pid in found if spsolve.alive(pid)]

    def ranks(self, host=None):
        """Returns the process ids of the ranks."""
        return self.members(lambda place: os.readlink(place / "exe") == os.path.realpath(spsolve.EXECUTABLE), host)

    def start(self, *arguments, ranks=4, options=(), threads="1"):
        """Starts a run whose first ranks are on the first host. `options` are those of mpirun."""
        each = ranks // len(HOSTS)
        network = [word for framework in ("btl", "oob") for word in ("--mca", f"{framework}_tcp_if_include", "10.77.0.0/24")]
        return subprocess.Popen(
            [*self.enter("spsolvea"), spsolve.MPIEXEC, "--mca", "plm", "rsh", "--mca", "plm_rsh_agent", self.directory / "agent", *network,
             "-H", ",".join(f"{host}:{each}" for host in HOSTS), "-n", str(ranks), "--wdir", self.directory,
             *options, spsolve.EXECUTABLE, *map(str, arguments)],
            env={**spsolve.ENVIRONMENT, "OMP_NUM_THREADS": threads}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True)


class TwoHosts(spsolve.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if os.geteuid() != 0 or not all(map(shutil.which, ("unshare", "nsenter", "ip", "taskset"))):
            raise unittest.SkipTest("needs root, unshare, nsenter, ip and taskset")
        version = subprocess.run([spsolve.MPIEXEC, "--version"], capture_output=True, text=True).stdout
        if not re.search(r"[(](Open MPI|OpenRTE)[)] 4[.]", version):
            raise unittest.SkipTest("needs mpirun of Open MPI 4")
        with tempfile.TemporaryDirectory() as directory, Hosts(pathlib.Path(directory)):
            pass  # skips where there are no namespaces

    def write(self, **changes):
        sections = spsolve.awkward_problem(**{"time": {"steps": 40}, "checkpoint": {"every": 10}, "parallel": {"timeout_seconds": 4},
                                              "compute": {"device": "cpu"}, "output": {"directory": "out"}, **changes})
        return spsolve.write_input(self.directory / "problem.toml", sections)

    def ended(self, hosts, process, seconds):
        """Returns the output of a launcher, which is killed after some seconds, since it waits for a host that it cannot
        reach."""
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            hosts.end_all()
            out, err = process.communicate()
        return spsolve.Result(process.returncode, out, err)

    def wait_for_checkpoint(self, process, step):
        begin = time.monotonic()
        while max(spsolve.checkpoints(self.directory / "out"), default=-1) < step:
            self.assertIsNone(process.poll(), "the run ended")
            self.assertLess(time.monotonic() - begin, spsolve.LONGEST)
            time.sleep(0.01)

    def wait_for_no_ranks(self, hosts, seconds, host=None):
        begin = time.monotonic()
        while hosts.ranks(host):
            self.assertLess(time.monotonic() - begin, seconds, f"ranks go on: {hosts.ranks(host)}")
            time.sleep(0.1)

    def test_ranks_are_named_with_their_hosts_and_have_the_bits_of_one(self):
        file = self.write()
        with Hosts(self.directory) as hosts:
            result = self.ended(hosts, hosts.start(file, "--output", "both"), 60)
            self.finished(result)
        for rank, host in enumerate(["spsolvea", "spsolvea", "spsolveb", "spsolveb"]):
            self.assertIn(f"rank {rank} on {host}: 1 threads\n", result.out)
        self.run_to(0, file, "--output", "alone")
        self.assertEqual((self.directory / "both/snapshot_0000000040.hdf").read_bytes(),
                         (self.directory / "alone/snapshot_0000000040.hdf").read_bytes())

    def test_ranks_take_the_cores_of_their_host(self):
        with Hosts(self.directory) as hosts:
            result = self.ended(hosts, hosts.start(self.write(), ranks=2, options=["--bind-to", "none"], threads=""), 60)
            self.finished(result)
        for rank, host in enumerate(HOSTS):
            self.assertIn(f"rank {rank} on {host}: {len(HOST_CORES[host])} threads\n", result.out)

    def test_a_cut_cable_ends_the_ranks_and_the_next_start_goes_on(self):
        """mpirun waits for the lost host unless it has found that it cannot reach the host before the ranks end the job."""
        file = self.write(time={"steps": 10**8}, checkpoint={"every": 1000})
        for options, launcher_ends, message in (([], False, "error: "), (KEEPALIVE, True, "told to end: rank 0 on spsolvea.*; ")):
            with self.subTest(options=options), Hosts(self.directory) as hosts:
                last = max(spsolve.checkpoints(self.directory / "out"), default=0)
                process = hosts.start(file, "--restart", "latest", options=options)
                self.wait_for_checkpoint(process, last + 1000)
                self.assertEqual([len(hosts.ranks(host)) for host in HOSTS], [2, 2])
                hosts.cut()
                if launcher_ends:
                    self.assertNotEqual(process.wait(4 + 10), 0)
                self.wait_for_no_ranks(hosts, 4 + 10)
                result = self.ended(hosts, process, 5)
                self.assertRegex(result.err, message + r"no sign of life for \d+ s from rank [23] on spsolveb: "
                                                       r".*step \d+, [\w ]+; last checkpoint: (step \d+|none)")
                hosts.connect()
                last = max(spsolve.checkpoints(self.directory / "out"))
                again = hosts.start(file, "--restart", "latest", *spsolve.settings(f"time.steps={last + 1000}"))
                self.finished(self.ended(hosts, again, 60))

    def test_a_rank_killed_on_the_other_host(self):
        file = self.write(time={"steps": 10**8}, checkpoint={"every": 100})
        with Hosts(self.directory) as hosts:
            process = hosts.start(file)
            self.wait_for_checkpoint(process, 1000)
            os.kill(hosts.ranks("spsolveb")[0], signal.SIGKILL)
            self.wait_for_no_ranks(hosts, 4 + 10)
            result = self.ended(hosts, process, 10)
            self.assertNotEqual(result.status, 0)
            self.assertIn("spsolveb", result.err)
            last = max(spsolve.checkpoints(self.directory / "out"))
            again = hosts.start(file, "--restart", "latest", *spsolve.settings(f"time.steps={last + 1000}"))
            self.finished(self.ended(hosts, again, 60))

    def test_a_rank_killed_while_it_writes(self):
        """Whatever file is in progress, the next start goes on from a whole checkpoint and has the bits of a run that never
        stopped."""
        file = self.write(grid={"shape": [200, 300]}, time={"steps": 10**8}, checkpoint={"every": 1}, output={"directory": "out", "every": 20},
                          initial={"expression": "sin(x) + y"})
        with Hosts(self.directory) as hosts:
            for step, host in ((20, "spsolveb"), (60, "spsolvea"), (100, "spsolveb")):
                process = hosts.start(file, "--restart", "latest")
                self.wait_for_checkpoint(process, step)
                begin = time.monotonic()
                while not list((self.directory / "out").glob("*.tmp")) and time.monotonic() < begin + 10:
                    pass
                os.kill(hosts.ranks(host)[-1], signal.SIGKILL)
                self.wait_for_no_ranks(hosts, 4 + 10)
                result = self.ended(hosts, process, 10)
                self.assertNotEqual(result.status, 0)
                self.assertIn(host, result.err)
            end = ["--set", f"time.steps={max(spsolve.checkpoints(self.directory / 'out')) + 40}"]
            self.finished(self.ended(hosts, hosts.start(file, "--restart", "latest", *end), 60))
        self.run_to(0, file, "--output", "alone", *end)
        for path in (self.directory / "alone").glob("snapshot*"):
            self.assertEqual((self.directory / "out" / path.name).read_bytes(), path.read_bytes(), path.name)
        self.assertEqual(list((self.directory / "out").glob("*.tmp")), [])

    def test_a_suspended_rank_on_the_other_host_is_named(self):
        file = self.write(time={"steps": 10**8}, checkpoint={"every": 1000})
        with Hosts(self.directory) as hosts:
            process = hosts.start(file)
            self.wait_for_checkpoint(process, 2000)  # then all ranks know that of step 1000
            stopped = hosts.ranks("spsolveb")[-1]
            os.kill(stopped, signal.SIGSTOP)
            try:
                result = self.ended(hosts, process, 4 + 10)
            finally:
                if spsolve.alive(stopped):
                    os.kill(stopped, signal.SIGKILL)
            self.assertRegex(result.err, r"no sign of life for \d+ s from rank 3 on spsolveb: .*step \d+, [\w ]+; last checkpoint: step [1-9]\d*000\b")

    def test_ranks_end_with_their_launcher(self):
        file = self.write(time={"steps": 10**8})
        with Hosts(self.directory) as hosts:
            process = hosts.start(file)
            self.wait_for_checkpoint(process, 100)
            launcher = hosts.members(lambda place: pathlib.Path(os.readlink(place / "exe")).name in ("mpirun", "orterun"), "spsolvea")
            self.assertTrue(launcher)
            for pid in launcher:
                os.kill(pid, signal.SIGKILL)
            self.wait_for_no_ranks(hosts, 4 + 10)
            self.ended(hosts, process, 5)

    def test_files_that_one_host_sees_alone(self):
        """Rank 0 reads the input for all. Datasets and checkpoints are read by every rank, and one that cannot names its host."""
        with h5py.File(self.directory / "alone.h5", "w") as data:
            data["u"] = np.ones((37, 61))
        inside = self.directory / "inside"
        inside.mkdir()
        for name, initial in (("plain", {"expression": "x"}), ("data", {"file": "alone.h5", "dataset": "u"})):
            spsolve.write_input(self.directory / f"{name}.toml", spsolve.awkward_problem(
                grid={"shape": [37, 61]}, time={"steps": 4}, initial=initial, compute={"device": "cpu"}, output={"directory": "out"},
                checkpoint={"every": 2}, parallel={"timeout_seconds": 4}))
        self.run_to(0, self.directory / "plain.toml", "--output", "before")
        with Hosts(self.directory) as hosts:
            hosts.run("spsolvea", "mount", "-t", "tmpfs", "spsolve_test", inside)
            for name in ("plain.toml", "data.toml", "alone.h5"):
                hosts.run("spsolvea", "cp", self.directory / name, inside)
            hosts.run("spsolvea", "cp", self.directory / "before/checkpoint_0000000002.h5", inside)
            self.finished(self.ended(hosts, hosts.start(inside / "plain.toml"), 30))
            for arguments, missing in (([inside / "data.toml", "--output", "other"], "alone.h5"),
                                       ([inside / "plain.toml", "--output", "third", "--restart", inside / "checkpoint_0000000002.h5"], "checkpoint_0000000002.h5")):
                result = self.ended(hosts, hosts.start(*arguments), 30)
                self.assertIn(result.status, (2, 4), result.err)
                self.assertRegex(result.err, rf"{missing}: .*No such file.* \(rank [23] on spsolveb\)")

    def test_a_directory_that_one_host_sees_alone_is_found_before_the_run(self):
        file = self.write(time={"steps": 10**8})
        (self.directory / "out").mkdir()
        with Hosts(self.directory) as hosts:
            hosts.run("spsolvea", "mount", "-t", "tmpfs", "spsolve_test", self.directory / "out")
            result = self.ended(hosts, hosts.start(file), 30)
            self.assertEqual(result.status, 4, result.err)
            self.assertRegex(result.err, r"output directory \S+ is not the one that rank 0 writes to: .* \(rank [23] on spsolveb\)")
            self.assertNotIn("step", result.out.partition("halos")[2])

    def test_a_directory_that_one_host_may_only_read_is_found_before_the_run(self):
        file, out = self.write(time={"steps": 10**8}), self.directory / "out"
        out.mkdir()
        with Hosts(self.directory) as hosts:
            hosts.run("spsolveb", "mount", "--bind", out, out)
            hosts.run("spsolveb", "mount", "-o", "remount,ro,bind", out)
            result = self.ended(hosts, hosts.start(file), 30)
            self.assertEqual(result.status, 4, result.err)
            self.assertRegex(result.err, r"output directory \S+ cannot be written to: \S+: Read-only file system \(rank [23] on spsolveb\)")
            self.assertNotIn("checkpoint of step", result.err)


if __name__ == "__main__":
    unittest.main()
