#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hardware counters beside the model's numbers, for rows of `spsolve bench --suite sweet-spot --json` (paper 003, table 2).

counters.py SPSOLVE rows.json counted.json [--most SECONDS]       (needs ncu of CUDA and a GPU whose counters may be read)

Each row is launched once under ncu (`bench --compile-only`), and gets what its longest kernel moved through main memory and
executed, per point and launch: measured M (bytes) and C (flop: CUDA cores by instruction, tensor cores by the size of theirs).
"""
import argparse
import csv
import io
import json
import math
import pathlib
import subprocess
import time

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("spsolve")
arguments.add_argument("rows", type=pathlib.Path)
arguments.add_argument("counted", type=pathlib.Path)
arguments.add_argument("--most", type=float, default=math.inf, help="seconds after which no further row is begun")
options = arguments.parse_args()

BYTES = ["dram__bytes_read.sum", "dram__bytes_write.sum"]
# Flop per thread and instruction.
THREADS = {f"smsp__sass_thread_inst_executed_op_{kind}{op}_pred_on.sum": flop
           for kind in "fd" for op, flop in (("fma", 2), ("add", 1), ("mul", 1))}
TENSOR = "sm__inst_executed_pipe_tensor.sum"


def depth(row):
    """k of the instructions of a row."""
    sparse = row["unit"] == "sparse-tensor"
    if row["precision"] == "fp64":
        return 4  # the pipe executes m16n8k16 as four
    half = row["precision"] in ("fp16", "bf16") or row["precision"] == "fp32" and row["layout"] != "separable"
    return (16 if half else 8) * (2 if sparse else 1)


def counters_of(row):
    """Of the longest kernel: {metric: value}."""
    command = ["ncu", "--csv", "--page", "raw", "--clock-control", "none", "--metrics",
               ",".join(["gpu__time_duration.sum", TENSOR, *BYTES, *THREADS]), options.spsolve, "bench", "--compile-only",
               "--no-graphs", "--stencil", row["stencil"], "--precision", row["precision"], "--unit", row["unit"],
               "--fuse", str(row["fuse"]), "--shape", ",".join(map(str, row["shape"]))]
    if row["layout"] != "none":
        command += ["--layout", row["layout"]]
    text = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
    lines = [line for line in text.splitlines() if line.startswith('"')]
    units, *kernels = csv.DictReader(io.StringIO("\n".join(lines)))
    number = lambda kernel, name: float(kernel[name].replace(",", "") or 0)
    longest = max(kernels, key=lambda kernel: number(kernel, "gpu__time_duration.sum"))
    scale = {"": 1, "byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "inst": 1}
    return {name: number(longest, name) * scale[units[name]] for name in [TENSOR, *BYTES, *THREADS]}


begin = time.monotonic()
counted = []
for row in json.loads(options.rows.read_text()):
    if time.monotonic() - begin > options.most:
        break
    try:
        found = counters_of(row)
    except (subprocess.TimeoutExpired, ValueError, KeyError) as error:
        print(f"{row['stencil']} {row['unit']} {row['layout']}: {error!r}")
        continue
    points = math.prod(row["shape"])
    tensor_flop = found[TENSOR] * 2 * 16 * 8 * depth(row)
    counted.append({**{key: row[key] for key in ("stencil", "shape", "precision", "unit", "layout", "fuse", "model")},
                    "measured_C_flop": (tensor_flop + sum(found[name] * flop for name, flop in THREADS.items())) / points,
                    "measured_M_bytes": sum(found[name] for name in BYTES) / points, "counters": found})
    print("{stencil} {precision} {unit} {layout} {fuse}: C {measured_C_flop:.1f}, M {measured_M_bytes:.2f}".format(**counted[-1]))
    options.counted.write_text(json.dumps(counted, indent=1) + "\n")
