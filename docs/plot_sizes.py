#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws rates over the size of the grid, from the rows of `spsolve bench --suite sizes --json`.

plot_sizes.py sizes.svg ROWS...     (needs matplotlib; ROWS are files of rows, or records as RECORD.json:RUN,RUN)

Across: points of the grid. Up: time steps x points per second. There is a picture for each precision, side by side.
"""
import collections
import math
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
from rows import rows_of

if len(sys.argv) < 3:
    sys.exit(__doc__)
picture, *sources = sys.argv[1:]
lines = collections.defaultdict(lambda: collections.defaultdict(list))
for row in rows_of(*sources):
    lines[row["precision"]][row["stencil"]].append((math.prod(row["shape"]), row["gstencil_per_s"]))
figure, axes = plt.subplots(1, len(lines), figsize=(6 * len(lines), 4.5), sharey=True, squeeze=False)
for axis, (precision, stencils) in zip(axes[0], lines.items()):
    for stencil, points in stencils.items():
        axis.plot(*zip(*sorted(points)), marker="o", markersize=3, linestyle={"1": "-", "s": "--", "b": "-."}[stencil[0]], label=stencil)
    axis.set(xscale="log", yscale="log", title=precision, xlabel="points of the grid")
    axis.grid(alpha=0.3)
axes[0][0].set_ylabel("GStencil/s")
axes[0][-1].legend(fontsize="small", ncol=2)
figure.tight_layout()
figure.savefig(picture, dpi=110)
