#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill_writer.py WRITER MPIEXEC...: starts WRITER on three ranks, kills one of them with SIGKILL at a random moment, and
looks at what is left: every file under a final name is good, and no checkpoint that was reported as written is lost."""
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

ROUNDS = 12
writer, launcher = sys.argv[1], sys.argv[2:]


def ranks_of(directory):
    """Returns the processes that write to the directory."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            arguments = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if arguments[:2] == [writer.encode(), directory.encode()]:
            found.append(int(entry.name))
    return sorted(found)


random.seed(20240607)
for round_ in range(ROUNDS):
    with tempfile.TemporaryDirectory(prefix="spsolve_kill_") as directory:
        job = subprocess.Popen([*launcher, writer, directory], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        first = job.stdout.readline()  # one checkpoint at least is good
        assert first.strip() == "1", f"the writer did not start: {first!r}"
        time.sleep(random.uniform(0.0, 0.3))
        ranks = ranks_of(directory)
        assert len(ranks) == 3, ranks
        victim = random.choice(ranks)
        os.kill(victim, signal.SIGKILL)
        reported = [int(line) for line in (first + job.stdout.read()).split() if line.isdigit()]
        job.wait(timeout=60)
        lines = subprocess.run([writer, "--check", directory], check=True, capture_output=True, text=True).stdout.splitlines()
        left = sorted(os.listdir(directory))
        print(f"round {round_}: killed rank process {ranks.index(victim)} after {reported[-1]} checkpoints; left: {left}")
        assert int(lines[0]) >= reported[-1], f"checkpoint {reported[-1]} was written, newest good is {lines[0]}"
        assert len(lines) == 1, f"bad files under final names: {lines[1:]}"
