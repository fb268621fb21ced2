#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws arithmetic intensity over the depth of fusion (paper 003, figures 10, 11 and 15): lines as the plan counts, points by counters.

plot_depths.py depths.svg MODEL [COUNTED...]     (needs matplotlib; see bench/sweet_spot.py depths)

There is a picture for each precision. Dotted lines are the ridges I* of the instructions: beyond them a unit is bound by its
operations, below by memory.
"""
import collections
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
from rows import rows_of
from sweet_spot import intensities_of, key_of

if len(sys.argv) < 3:
    sys.exit(__doc__)
picture, model, *counted = sys.argv[1:]
counts = intensities_of(counted, model)
UNITS = {"scalar": "-", "tensor": "--", "sparse-tensor": "-."}
rows = rows_of(model)
stencils = list(dict.fromkeys(row["stencil"] for row in rows))
precisions = list(dict.fromkeys(row["precision"] for row in rows))
colours = dict(zip(stencils, plt.rcParams["axes.prop_cycle"].by_key()["color"]))
figure, axes = plt.subplots(1, len(precisions), figsize=(5 * len(precisions), 4.5), sharey=True, squeeze=False)
for axis, precision in zip(axes[0], precisions):
    lines = collections.defaultdict(list)
    for row in rows:
        if row["precision"] == precision:
            lines[row["stencil"], row["unit"]].append(row)
            axis.axhline(row["I_ridge"], color="grey", linewidth=0.5, linestyle=":")
    for (stencil, unit), points in lines.items():
        points.sort(key=lambda row: row["fuse"])
        axis.plot([row["fuse"] for row in points], [row["I_flop_per_byte"] for row in points], UNITS[unit], color=colours[stencil],
                  label=f"{stencil} {unit}")
        found = [(row["fuse"], counts[key_of(row)]) for row in points if key_of(row) in counts]
        axis.plot(*(zip(*found) if found else ([], [])), "o", color=colours[stencil], markersize=4)
    axis.set(yscale="log", title=precision, xlabel="steps per launch")
    axis.grid(alpha=0.3)
axes[0][0].set_ylabel("flop per byte")
axes[0][-1].legend(fontsize="xx-small", ncol=2)
figure.tight_layout()
figure.savefig(picture, dpi=110)
