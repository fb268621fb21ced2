#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws rates against the roofline, from the files of `spsolve bench --json`.

plot_roofline.py roofline.svg RESULTS... [--ceilings ceilings.json]     (needs matplotlib)

RESULTS are files of rows, or records as RECORD.json:RUN,RUN.

Across: useful floating-point operations (two per weight and time step) per byte of memory traffic of a launch. Up: useful
operations per second and device. The slope is the copy bandwidth, flat lines are multiply-add rates of the same run; with
--ceilings (`spsolve bench --suite ceilings --json`) also those of tensor cores, which do redundant work, too.
"""
import argparse
import itertools
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
from rows import rows_of

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("picture", type=pathlib.Path)
arguments.add_argument("results", nargs="+")
arguments.add_argument("--ceilings", type=pathlib.Path)
options = arguments.parse_args()

rows = rows_of(*options.results)
copy = max(row["copy_bandwidth_gb_per_s"] / row["ranks"] for row in rows)
roofs = {}
for row in rows:
    name = "fma fp64" if row["precision"] == "fp64" else "fma fp32"
    roofs[name] = max(roofs.get(name, 0), row["fma_ceiling_gflop_per_s"] / row["ranks"])
if options.ceilings:
    formats = {"fp64", "tf32", "fp16"} & {row["precision"].replace("fp32", "tf32") for row in rows}
    for rate in json.loads(options.ceilings.read_text())["rates"]:
        if rate["unit"] != "flop/s" or "GEMM" in rate["name"] or "," in rate["name"]:
            continue
        instruction, precision, *_ = rate["name"].split()
        if precision in formats and (instruction in ("mma.sp", "wgmma.sp") or precision == "fp64" and instruction == "mma"):
            # The fastest shape of an instruction counts.
            name = f"{instruction} {precision}"
            roofs[name] = max(roofs.get(name, 0), rate["sustained"] * 1e-9)

figure, axes = plt.subplots(figsize=(9, 6), layout="constrained")
markers = {"scalar": "o", "tensor": "s", "sparse-tensor": "^"}
intensities = []
colours = dict(zip(("fp64", "fp32", "tf32", "bf16", "fp16"), plt.rcParams["axes.prop_cycle"].by_key()["color"]))
for (unit, precision), group in itertools.groupby(sorted(rows, key=lambda r: (r["unit"], r["precision"])),
                                                  key=lambda r: (r["unit"], r["precision"])):
    points = [(2 * row["taps"] * row["fuse"] / row["bytes_per_point"], 2 * row["taps"] * row["gstencil_per_s"] / row["ranks"])
              for row in group]
    intensities += [intensity for intensity, _ in points]
    axes.scatter(*zip(*points), marker=markers[unit], color=colours[precision], label=f"{unit} {precision}", s=26, alpha=0.8)
left, right = min(intensities) / 4, max(max(intensities) * 4, max(roofs.values()) / copy)
axes.plot([left, max(roofs.values()) / copy], [copy * left, max(roofs.values())], color="black", linewidth=1)
axes.annotate(f"copy {copy:,.0f} GB/s", (2 * left, 2 * copy * left), fontsize=8, va="top")
for name, rate in roofs.items():
    axes.axhline(rate, color="grey", linewidth=0.8, linestyle="--" if "sp" in name else "-")
    axes.annotate(f"{name}: {rate / 1e3:,.0f} Tflop/s", (left, rate), fontsize=7, va="bottom")
axes.set(xscale="log", yscale="log", xlim=(left, right), xlabel="useful flop per byte", ylabel="useful Gflop/s per device",
         title="spsolve against the roofline")
axes.legend(fontsize=8)
figure.savefig(options.picture)
