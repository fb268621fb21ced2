#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how fast a run writes snapshots of all points, against what the file system takes from dd. It runs inputs/heat3d.toml with
and without snapshots, and writes as many bytes by dd with every number of streams. A run may take 1.15 times the longer of computing
and writing. Files are flushed to disk in all cases, and a first dd is not counted. Prints a row for each directory, and writes JSON.

    bench/bench_writes.py --spsolve build/cuda/spsolve --directory /dev/shm/bench --directory /var/tmp/bench --json writes.json"""
import argparse
import datetime
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import time

ROOT = pathlib.Path(__file__).parents[1]


def dd_seconds(directory, streams, bytes_in_all):
    """Returns the time in which this number of processes write a file each."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    block = 8 << 20
    begin = time.perf_counter()
    processes = [subprocess.Popen(["dd", "if=/dev/zero", f"of={directory}/{i}", f"bs={block}", "conv=fsync", "status=none",
                                   f"count={-(-bytes_in_all // streams // block)}"]) for i in range(streams)]
    if any([process.wait() for process in processes]):
        raise SystemExit(f"dd failed in {directory}")
    taken = time.perf_counter() - begin
    shutil.rmtree(directory)
    return taken


def run(options, directory, every):
    """Returns the report of a run, with the bytes of its snapshots."""
    shutil.rmtree(directory, ignore_errors=True)
    settings = {"grid.shape": f"[{options.shape}]", "time.steps": options.steps, "output.every": every, "output.stride": 1,
                "diagnostics.every": 0, "checkpoint.every": 0, "initial.expression": "x*y*z",
                **dict(s.split("=", 1) for s in options.set)}
    command = [*options.launcher.split(), options.spsolve, str(ROOT / "inputs" / "heat3d.toml"), "--output", str(directory), "--quiet"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    subprocess.run(command, check=True)
    report = json.loads((directory / "run.json").read_text())
    report["snapshot_bytes"] = sum(file.stat().st_size for file in directory.glob("snapshot_*.hdf"))
    shutil.rmtree(directory)
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spsolve", default="spsolve")
    parser.add_argument("--launcher", default="", help='such as "mpirun -n 2"')
    parser.add_argument("--directory", type=pathlib.Path, action="append", required=True, help="a new one, on a file system to measure")
    parser.add_argument("--shape", default="512,512,512")
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--snapshots", type=int, default=60)
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--json")
    options = parser.parse_args()
    points = math.prod(int(n) for n in options.shape.split(","))
    rows = []
    for directory in options.directory:
        without = min((run(options, directory, 0) for _ in range(options.repeats)), key=lambda report: report["seconds"])
        computing = without["seconds"] - without["seconds_files"]["min"]
        every = options.steps // options.snapshots
        # A virtual machine takes memory from its host when it is touched for the first time, which is slow: what comes first must
        # not pay for what comes later.
        dd_seconds(directory, max(options.streams), 4 * points * (options.snapshots + 1))
        report = min((run(options, directory, every) for _ in range(options.repeats)), key=lambda report: report["seconds"])
        raw = {streams: min(dd_seconds(directory, streams, report["snapshot_bytes"]) for _ in range(options.repeats))
               for streams in options.streams}
        best = min(raw, key=raw.get)
        ratio = report["seconds"] / max(computing, raw[best])
        gigabytes = report["snapshot_bytes"] * 1e-9
        rows.append([str(directory), options.shape, options.steps, options.snapshots, round(gigabytes, 3), round(computing, 3),
                     round(report["seconds"], 3), round(raw[best], 3), best, round(ratio, 3), report["files"]])
        print(f"{directory}: {gigabytes:.3g} GB; computing {computing:.3g} s, dd " +
              ", ".join(f"{n}: {seconds:.3g} s" for n, seconds in raw.items()) +
              f", run {report['seconds']:.3g} s after {report['seconds_setup']:.2g} s of preparation ({without['seconds_setup']:.2g} s without "
              f"snapshots): {ratio:.2f} of the longer, load {os.getloadavg()[0]:.1f}; files: {json.dumps(report['files'])}", flush=True)
    gpu = re.search(r"GPU \d+ (.+) \(", report["devices"][0])
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({
            "name": "writes", "device": gpu[1] if gpu else "cpu", "date": datetime.date.today().isoformat(),
            "columns": ["directory", "shape", "steps", "snapshots", "gigabytes", "computing_s", "run_s", "dd_s", "dd_streams",
                        "of_the_longer", "files"], "rows": rows}) + "\n")


if __name__ == "__main__":
    main()
