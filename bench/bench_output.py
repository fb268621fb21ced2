#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of snapshots: runs inputs/heat3d.toml on a larger grid, with and without them, with and without background
output. Prints a table and writes JSON. The cost is the wall time of the time loop, including the wait for the last file, divided by
that of the same steps with only the last snapshot.

    bench/bench_output.py --spsolve build/cuda/spsolve --directory /dev/shm/bench --json output.json [--shape 512,512,512]"""
import argparse
import datetime
import json
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).parents[1]

# steps, steps between snapshots (0: only the last), stride, steps between checkpoints
CASES = [
    (6000, 100, 8, 0),
    (6000, 100, 4, 0),
    (6000, 2000, 1, 0),
    (6000, 0, 1, 2500),
    (1000, 100, 1, 0),
]


def run(options, steps, every, stride, checkpoint, background):
    directory = pathlib.Path(options.directory)
    shutil.rmtree(directory, ignore_errors=True)
    settings = {"grid.shape": f"[{options.shape}]", "time.steps": steps, "output.every": every, "output.stride": stride,
                "output.background": str(background).lower(), "diagnostics.every": 0, "checkpoint.every": checkpoint,
                "checkpoint.keep": 1, "initial.expression": "x*y*z", **dict(s.split("=", 1) for s in options.set)}
    command = [*options.launcher.split(), options.spsolve, str(ROOT / "inputs" / "heat3d.toml"), "--output", str(directory), "--quiet"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    subprocess.run(command, check=True)
    result = json.loads((directory / "run.json").read_text())
    files = [*directory.glob("snapshot_*.hdf"), *directory.glob("checkpoint_*.h5")]
    result["bytes_of_a_file"] = max(file.stat().st_size for file in files)
    shutil.rmtree(directory)
    return result


def device_name(result):
    gpu = re.search(r"GPU \d+ (.+) \(", result["devices"][0])
    return gpu[1] if gpu else "cpu"


def measure(options, *case):
    """Returns the run with the median wall time."""
    results = sorted((run(options, *case) for _ in range(options.repeats)), key=lambda result: result["seconds"])
    return results[(len(results) - 1) // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spsolve", default="spsolve")
    parser.add_argument("--launcher", default="", help='such as "mpirun -n 2"')
    parser.add_argument("--directory", required=True, help="a new one, on the file system to measure")
    parser.add_argument("--shape", default="512,512,512")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--set", action="append", default=[], help="section.key=value for all runs")
    parser.add_argument("--case", action="append", default=[], help="steps,every,stride,checkpoints instead of all cases")
    parser.add_argument("--background-only", action="store_true", help="leave out runs that wait for their files")
    parser.add_argument("--json")
    options = parser.parse_args()
    for every in (100, 101):  # compile kernels before anything is timed
        run(options, 200, every, 8, 0, True)
    rows, alone = [], {}
    print(f"{'steps':>6} {'every':>6} {'stride':>6} {'checkpoints':>11} {'background':>10} {'seconds':>9} {'waiting':>9} {'cost':>7}")
    for steps, every, stride, checkpoint in [tuple(map(int, case.split(","))) for case in options.case] or CASES:
        base = alone.get((steps, stride))
        if base is None:
            base = alone[steps, stride] = measure(options, steps, 0, stride, 0, True)["seconds"]
        for background in (True, False) if not options.background_only else (True,):
            result = measure(options, steps, every, stride, checkpoint, background)
            cost = result["seconds"] / base - 1
            print(f"{steps:6} {every:6} {stride:6} {checkpoint:11} {background!s:>10} {result['seconds']:9.3f} "
                  f"{result['seconds_files']['max']:9.3f} {100 * cost:6.1f}%", flush=True)
            rows.append({"input": "inputs/heat3d.toml", "shape": [int(n) for n in options.shape.split(",")], "steps": steps,
                         "output_every": every, "stride": stride, "checkpoint_every": checkpoint, "background": background,
                         "ranks": result["ranks"], "device": device_name(result), "unit": result["plan"]["unit"],
                         "fuse": result["plan"]["fuse"],
                         "seconds_without": base, "seconds": result["seconds"],
                         "seconds_waiting_for_files": result["seconds_files"]["max"], "cost": cost,
                         "bytes_of_a_file": result["bytes_of_a_file"], "directory": options.directory,
                         "repeats": options.repeats, "date": str(datetime.date.today()), "versions": result["versions"]})
            if options.json:
                pathlib.Path(options.json).write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
