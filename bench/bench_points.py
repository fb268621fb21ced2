#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what point sources and probes cost: acoustic waves in a velocity that grows with depth, or another input, without points,
with a source, and with a source and receivers that are recorded in every step. The rate is that of the steps between two lengths of
a run, so that what happens once does not count; files of snapshots do not count either, probes.h5 does. All cases are measured in
turn, several times, because rates drift by some percent; rows hold medians, and the least and the largest further time.

    bench/bench_points.py --spsolve build/cuda/spsolve --directory /dev/shm/bench --json points.json
    bench/bench_points.py --spsolve build/cuda/spsolve --directory /dev/shm/bench --input inputs/acoustic3d.toml --points 512"""
import argparse
import datetime
import json
import math
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import tomllib

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
step = "p.next = 2*p - p.previous + (c*dt)^2*laplace(p, order={order})"
[time]
dt    = 1.0e-3
steps = 1
"""
RICKER, WAVE = "(c*dt)^2 * ricker(t - 0.1, f0)", "sin(step)"  # values of the source of this input and of others


def without_points(text):
    """Returns an input without its [[point_sources]] and [[probes]]."""
    tables = re.split(r"(?m)^(?=\s*\[\[?[A-Za-z])", text)
    return "".join(table for table in tables if not re.match(r"\s*\[\[(point_sources|probes)\]\]", table))


def shape_of(options, text):
    """Returns the shape of the grid: that of the input, or of --points along every axis."""
    shape = tomllib.loads(text)["grid"]["shape"]
    return [options.points] * len(shape) if options.points else shape


def input_text(text, shape, value, receivers):
    """Returns an input with a source and receivers, or without points if `receivers` is None."""
    if receivers is None:
        return text
    grid = tomllib.loads(text)["grid"]
    spacing, origin = grid.get("spacing", [1.0] * len(shape)), grid.get("origin", [0.0] * len(shape))

    def at(*points):
        return "[" + ", ".join(f"{o + h * n:.9g}" for o, h, n in zip(origin, spacing, points)) + "]"
    fields = list(tomllib.loads(text).get("fields", {"u": {}}))
    text += f'\n[[point_sources]]\nfield = "{fields[0]}"\nat = {at(*(n // 2 + 0.3 for n in shape))}\nvalue = "{value}"\n'
    if receivers:
        place = random.Random(1)
        # All receivers are at one depth, anywhere between grid points.
        places = ", ".join(at(2.5, *(place.uniform(0, n - 1) for n in shape[1:])) for _ in range(receivers))
        text += f'[[probes]]\nname = "receivers"\nat = [{places}]\n'
    return text


def seconds(options, file, steps, fuse):
    """Returns the seconds of the steps of a run, and the report of that run."""
    directory = pathlib.Path(options.directory)
    shutil.rmtree(directory, ignore_errors=True)
    settings = {"time.steps": steps, "time.fuse": fuse, "diagnostics.every": 0, "output.every": 0,
                "grid.shape": shape_of(options, file.read_text()), **dict(s.split("=", 1) for s in options.set)}
    if options.precision:
        settings["compute.precision"] = options.precision
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
    parser.add_argument("--input", type=pathlib.Path, help="another input than these waves, with spacing and steps and without datasets; "
                        "its own points are left out")
    parser.add_argument("--order", type=int, default=2, help="of these waves in space")
    parser.add_argument("--points", type=int, help="along every axis; by default 512, or as many as the input has")
    parser.add_argument("--precision", help="by default fp32, or that of the input")
    parser.add_argument("--fuse", nargs="+", default=["1", "4"], help='steps per launch, or "auto"')
    parser.add_argument("--receivers", type=int, nargs="+", default=[0, 1000, 100000])
    parser.add_argument("--steps", type=int, nargs=2, default=[400, 2000])
    parser.add_argument("--repeats", type=int, default=3, help="of every case")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--json")
    options = parser.parse_args()
    if not options.input:
        options.points, options.precision = options.points or 512, options.precision or "fp32"
    text = without_points(options.input.read_text()) if options.input else INPUT.format(n=options.points, order=options.order)
    shape = shape_of(options, text)
    rows, report = [], {}
    steps = options.steps[1] - options.steps[0]
    for fuse in options.fuse:
        taken = {None: [], **{receivers: [] for receivers in options.receivers}}  # seconds, by receivers
        files = {receivers: pathlib.Path(f"{options.directory}_{receivers}.toml") for receivers in taken}
        plans = {}
        for receivers, file in files.items():
            file.write_text(input_text(text, shape, WAVE if options.input else RICKER, receivers))
            _, report = seconds(options, file, options.steps[0], fuse)  # compiles the kernels, which the next runs find in the cache
            plans[receivers] = report["plan"]
        for _ in range(options.repeats):
            for receivers, file in files.items():
                taken[receivers].append(seconds_of_steps(options, file, fuse))
        without = statistics.median(taken[None])
        for receivers, file in files.items():
            file.unlink()
            plan = plans[receivers]
            rate = math.prod(shape) * steps / statistics.median(taken[receivers]) * 1e-9
            further = [f(taken[receivers]) / without - 1 for f in (statistics.median, min, max)]
            rows.append([shape[0] if len(set(shape)) == 1 else shape, plan["precision"], plan["fuse"], receivers, round(rate, 4),
                         *(round(share, 4) for share in further)])
            name = "no points" if receivers is None else f"1 source, {receivers} receivers"
            print(f"{plan['fuse']} steps per launch, {name}: {rate:.4g} G points x steps/s, {100 * further[0]:+.2f}% of time "
                  f"({100 * further[1]:+.2f} to {100 * further[2]:+.2f}%)", flush=True)
    gpu = re.search(r"GPU \d+ (.+) \(", report["devices"][0])
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({
            "name": "points", "device": gpu[1] if gpu else "cpu", "date": datetime.date.today().isoformat(),
            "columns": ["points", "precision", "fuse", "receivers", "gpoints_per_s", "further_time", "least_further_time",
                        "most_further_time"], "rows": rows}) + "\n")


if __name__ == "__main__":
    main()
