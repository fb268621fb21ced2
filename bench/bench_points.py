#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what point sources and probes cost: acoustic waves of order 2 in a velocity that grows with depth, without points, with a
source, and with a source and receivers that are recorded in every step. The rate is that of the steps between two lengths of a run,
so that what happens once does not count; files of snapshots do not count either, probes.h5 does. All cases are measured in turn,
several times, because rates drift by some percent; rows hold medians, and the least and the largest further time.

    bench/bench_points.py --spsolve build/cuda/spsolve --directory /dev/shm/bench --json points.json"""
import argparse
import datetime
import json
import pathlib
import random
import re
import shutil
import statistics
import subprocess

INPUT = """
name = "wave"
[grid]
shape   = [{n}, {n}, {n}]
spacing = [10.0, 10.0, 10.0]
[boundary]
z = {{ low = {{ dirichlet = 0.0 }}, high = {{ dirichlet = 0.0 }} }}
y = {{ low = {{ dirichlet = 0.0 }}, high = {{ dirichlet = 0.0 }} }}
x = {{ low = {{ dirichlet = 0.0 }}, high = {{ dirichlet = 0.0 }} }}
[constants]
f0 = 10.0
[coefficients]
c = "1500 + z/10"
[fields.p]
[equations]
step = "p.next = 2*p - p.previous + (c*dt)^2*laplace(p)"
[time]
dt    = 1.0e-3
steps = 1
[compute]
precision = "{precision}"
"""


def input_text(options, receivers):
    """Returns an input with a source and receivers, or without points if `receivers` is None."""
    n = options.points
    text = INPUT.format(n=n, precision=options.precision)
    if receivers is None:
        return text
    middle, end = 10 * (n // 2) + 3.0, 10.0 * (n - 1)
    text += f'[[point_sources]]\nat = [{middle}, {middle}, {middle}]\nvalue = "(c*dt)^2 * ricker(t - 0.1, f0)"\n'
    if receivers:
        place = random.Random(1)
        # All receivers are at one depth, anywhere between grid points.
        places = ", ".join(f"[25.0, {place.uniform(0, end):.3f}, {place.uniform(0, end):.3f}]" for _ in range(receivers))
        text += f'[[probes]]\nname = "receivers"\nat = [{places}]\n'
    return text


def seconds(options, file, steps, fuse):
    """Returns the seconds of the steps of a run, and the report of that run."""
    directory = pathlib.Path(options.directory)
    shutil.rmtree(directory, ignore_errors=True)
    settings = {"time.steps": steps, "time.fuse": fuse, "diagnostics.every": 0, "output.every": 0,
                **dict(s.split("=", 1) for s in options.set)}
    command = [*options.launcher.split(), options.spsolve, str(file), "--output", str(directory), "--quiet"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    subprocess.run(command, check=True)
    report = json.loads((directory / "run.json").read_text())
    shutil.rmtree(directory)
    return report["seconds"] - report["seconds_files"]["min"], report


def seconds_of_steps(options, file, fuse):
    """Returns the seconds of the steps between the two lengths of a run."""
    few, many = (seconds(options, file, steps, fuse)[0] for steps in options.steps)
    return many - few


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spsolve", default="spsolve")
    parser.add_argument("--launcher", default="", help='such as "mpirun -n 2"')
    parser.add_argument("--directory", required=True, help="a new one, in memory if snapshots are large")
    parser.add_argument("--points", type=int, default=512, help="along every axis")
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--fuse", type=int, nargs="+", default=[1, 4], help="steps per launch")
    parser.add_argument("--receivers", type=int, nargs="+", default=[0, 1000, 100000])
    parser.add_argument("--steps", type=int, nargs=2, default=[400, 2000])
    parser.add_argument("--repeats", type=int, default=3, help="of every case")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--json")
    options = parser.parse_args()
    rows, report = [], {}
    steps = options.steps[1] - options.steps[0]
    for fuse in options.fuse:
        taken = {None: [], **{receivers: [] for receivers in options.receivers}}  # seconds, by receivers
        files = {receivers: pathlib.Path(f"{options.directory}_{receivers}.toml") for receivers in taken}
        for receivers, file in files.items():
            file.write_text(input_text(options, receivers))
            _, report = seconds(options, file, options.steps[0], fuse)  # compiles the kernels, which the next runs find in the cache
        for _ in range(options.repeats):
            for receivers, file in files.items():
                taken[receivers].append(seconds_of_steps(options, file, fuse))
        without = statistics.median(taken[None])
        for receivers, file in files.items():
            file.unlink()
            rate = options.points**3 * steps / statistics.median(taken[receivers]) * 1e-9
            further = [f(taken[receivers]) / without - 1 for f in (statistics.median, min, max)]
            rows.append([options.points, options.precision, fuse, receivers, round(rate, 4), *(round(share, 4) for share in further)])
            name = "no points" if receivers is None else f"1 source, {receivers} receivers"
            print(f"{fuse} steps per launch, {name}: {rate:.4g} G points x steps/s, {100 * further[0]:+.2f}% of time "
                  f"({100 * further[1]:+.2f} to {100 * further[2]:+.2f}%)", flush=True)
    gpu = re.search(r"GPU \d+ (.+) \(", report["devices"][0])
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({
            "name": "points", "device": gpu[1] if gpu else "cpu", "date": datetime.date.today().isoformat(),
            "columns": ["points", "precision", "fuse", "receivers", "gpoints_per_s", "further_time", "least_further_time",
                        "most_further_time"], "rows": rows}) + "\n")


if __name__ == "__main__":
    main()
