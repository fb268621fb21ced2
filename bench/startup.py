#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the time of a run outside its time loop, with kernels compiled (empty cache) and cached. Writes JSON for record.py.

    bench/startup.py --spsolve build/default/spsolve --ranks 1 4 --json startup.json

Also times `spsolve doctor`, which only starts MPI and asks the driver for its GPUs."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

INPUT = pathlib.Path(__file__).resolve().parent.parent / "inputs" / "heat3d.toml"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spsolve", required=True)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--json", type=pathlib.Path, required=True)
    options = parser.parse_args()
    results = []
    for ranks in options.ranks:
        runs = {"doctor": [], "cold": [], "warm": []}
        for _ in range(options.repeats):
            with tempfile.TemporaryDirectory() as directory:
                for what, times in runs.items():
                    arguments = ["doctor"] if what == "doctor" else [str(INPUT), "--quiet", "--overwrite", "--output", f"{directory}/out"]
                    begin = time.perf_counter()
                    subprocess.run([*options.mpirun.split(), "-n", str(ranks), options.spsolve, *arguments], check=True,
                                   stdout=subprocess.DEVNULL, env=os.environ | {"XDG_CACHE_HOME": f"{directory}/cache"})
                    seconds = {"process": time.perf_counter() - begin}
                    if what != "doctor":
                        report = json.loads(pathlib.Path(directory, "out/run.json").read_text())
                        seconds |= {part: report[part] for part in ("seconds_setup", "seconds")}
                    times.append(seconds)
        for what, times in runs.items():
            results.append({"what": what, "ranks": ranks} | {part: statistics.median(run[part] for run in times) for part in times[0]})
            print(results[-1], flush=True)
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
