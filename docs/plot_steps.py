#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws steps beside each other as bars, from the rows of a suite of `spsolve bench` or of bench_preprocessing.

plot_steps.py gemm PICTURE ROWS...            steps of the sparse GEMM (the worklog's ladder)
plot_steps.py ablation PICTURE ROWS...        CUDA cores, dense and 2:4 tensor cores over the side of the grid, by strided swap in fp16, and
                                              in one loop with and without staging (SparStencil figure 7, SPIDER figure 12)
plot_steps.py layouts PICTURE ROWS...         from im2row to the kernels of the solver (ConvStencil figure 6)
plot_steps.py preprocessing PICTURE ROWS...   seconds before the first launch (SparStencil figure 8)

It needs matplotlib. ROWS are files of rows, or records as RECORD.json:RUN,RUN. The first of several rows of a step counts.
"""
import collections
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
from rows import rows_of, way_of


def gemm_bars(rows):
    for row in rows:
        for name, key in (("boost", "flop_per_s"), ("sustained", "flop_per_s_sustained"), ("worklog, H800 PCIe", "published_flop_per_s")):
            yield row["format"], row["step"], name, row[key] * 1e-12


def ablation_bars(rows):
    names = {"scalar": "CUDA cores", "tensor": "dense tensor cores", "sparse-tensor": "2:4 tensor cores"}
    chosen = [row for row in rows if row["precision"] == "fp16" and row.get("layout") in ("none", "strided-swap") and row["suite"] == "ablation"]
    cases = collections.defaultdict(set)
    for row in chosen:
        if row["unit"] == "sparse-tensor":
            cases[row["stencil"], row["fuse"]].add(row["shape"][0])
    for row in sorted(chosen, key=lambda row: (row["stencil"], row["fuse"], row["shape"])):
        if len(cases[row["stencil"], row["fuse"]]) > 1:
            yield f"{row['stencil']}, t = {row['fuse']}", str(row["shape"][0]), names[row["unit"]], row["gstencil_per_s"]
    for row in rows:
        if "step" in row and row["precision"] == "fp16":
            form, _, place = row["step"].rpartition(", ")
            yield f"{row['stencil']}, t = 1, one loop", form.replace("dense band, ", "").replace(" strided swap", ""), place, row["gstencil_per_s"]


def layout_bars(rows):
    for row in rows:
        solver = "the solver: " + ("CUDA cores" if row["unit"] == "scalar" else way_of(row)) if "unit" in row else None
        yield f"{row['stencil']} {row['precision']}", solver or row["step"], "rate", row["gstencil_per_s"]


def preprocessing_bars(rows):
    for row in rows:
        for name in ("search", "matching", "operand", "metadata", "compile"):
            yield row["precision"], f"{row['stencil']}, t = {row['fuse']}", name, row[name]


KINDS = {"gemm": (gemm_bars, "TFLOP/s, zeros counted", "linear"), "ablation": (ablation_bars, "GStencil/s", "log"),
         "layouts": (layout_bars, "GStencil/s", "linear"), "preprocessing": (preprocessing_bars, "s", "log")}


def draw(axis, title, groups, label, scale, colors):
    """Draws groups of bars, {label: {series: value}}, across; series without a value have no bar. Series have the same colours in all panels."""
    series = list(dict.fromkeys(name for values in groups.values() for name in values))
    height = 0.8 / len(series)
    for i, name in enumerate(series):
        axis.barh([group + i * height for group in range(len(groups))], [values.get(name, 0) for values in groups.values()], height, label=name,
                  color=colors.setdefault(name, f"C{len(colors)}"))
    axis.set_yticks([group + 0.4 - height / 2 for group in range(len(groups))], list(groups), fontsize="small")
    axis.invert_yaxis()
    axis.set(title=title, xlabel=label, xscale=scale)
    if scale == "log":
        axis.set_xlim(left=0.5 * min(value for values in groups.values() for value in values.values() if value > 0))
    axis.grid(axis="x", alpha=0.3)


def main(kind, picture, *sources):
    bars, label, scale = KINDS[kind]
    panels = collections.defaultdict(lambda: collections.defaultdict(dict))
    for panel, group, name, value in bars(rows_of(*sources)):
        panels[panel][group].setdefault(name, value)
    longest = max(map(len, panels.values()))
    figure, axes = plt.subplots(1, len(panels), figsize=(4.5 * len(panels) + 1.5, 1.5 + 0.38 * longest), squeeze=False)
    colors = {}
    for axis, (title, groups) in zip(axes[0], panels.items()):
        draw(axis, title, groups, label, scale, colors)
    bars_of_series = {name: bar for axis in axes[0] for bar, name in zip(*axis.get_legend_handles_labels())}
    if len(bars_of_series) > 1:
        figure.legend(bars_of_series.values(), bars_of_series, loc="upper center", ncol=len(bars_of_series), fontsize="small")
    figure.tight_layout(rect=(0, 0, 1, 0.94))
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1] not in KINDS:
        sys.exit(__doc__)
    main(*sys.argv[1:])
