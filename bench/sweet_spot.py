#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints tables 2 to 4 of paper 003 for spsolve, in Markdown, from `spsolve bench --suite sweet-spot --json` and bench/counters.py.

sweet_spot.py 2 rows.json counted.json    per point and launch: C in flop, M in bytes, I = C / M, from the model and from counters
sweet_spot.py 3 rows.json ceilings.json   bottleneck, rate, scenario and sweet spot of every unit and layout, compared with CUDA cores
sweet_spot.py 4 rows.json ceilings.json   dense against sparse tensor cores

Rows are files of rows, or records as RECORD.json:RUN,RUN.
"""
import json
import pathlib
import sys

from rows import predicted, rows_of, table, way_of

if len(sys.argv) < 3:
    sys.exit(__doc__)
number, *files = sys.argv[1:]
rows = [row for row in rows_of(files[0]) if row["suite"] == "sweet-spot"]
key = lambda row: tuple(str(row[name]) for name in ("stencil", "precision", "unit", "layout", "fuse"))
case = lambda row: (row["stencil"], row["precision"], row["fuse"])
case_text = lambda row: f"{row['stencil']} {row['precision']}"


def ridge(row):
    """Returns the flop/B at which the memory and instruction ceilings of a row meet."""
    rates = {rate["name"]: rate["sustained"] for rate in json.loads(pathlib.Path(files[1]).read_text())["rates"]}
    sparse, fp64 = row["unit"] == "sparse-tensor", row["precision"] == "fp64"
    if row["unit"] == "scalar":
        name = "fma fp64" if fp64 else "fma fp32"
    elif fp64:
        name = "mma fp64 m16n8k16"
    elif row["precision"] == "fp32" and row["layout"] == "separable":
        name = "mma.sp tf32 m16n8k16"
    else:
        name = "mma.sp fp16 m16n8k32" if sparse else "mma fp16 m16n8k16"
    return rates[name] / rates["copy"]


def counted_line(row, found):
    C, M = found["measured_C_flop"], found["measured_M_bytes"]
    model = row["model"]
    off = lambda value, exact: f"{value:,.4g} ({100 * (value / exact - 1):+.0f}%)"
    scalar = row["unit"] == "scalar"
    return (case_text(row), row["fuse"], way_of(row), "" if scalar else f"{model['alpha']:.3g}", "" if scalar else f"{model['S']:.3g}",
            *(f"{model[name]:,.4g}" for name in ("C_flop", "M_bytes", "I_flop_per_byte")),
            off(C, model["C_flop"]), off(M, model["M_bytes"]), off(C / M, model["I_flop_per_byte"]))


def bottleneck_line(row):
    model, scalar = row["model"], row["unit"] == "scalar"
    beside = next((other for other in rows if case(other) == case(row) and other["unit"] == "scalar"), None)
    change = "" if scalar or not beside else f"{row['gstencil_per_s'] / beside['gstencil_per_s']:.2f}"
    return (case_text(row), row["fuse"], way_of(row), f"{model['I_flop_per_byte']:,.4g}", f"{ridge(row):,.3g}", model["bound"],
            f"{row['gstencil_per_s']:,.0f}", f"{predicted(row):.2f}", change, "" if scalar else model["scenario"],
            "" if scalar else "inside" if model["scenario"] == 3 or model["scenario"] == 4 and model["in_sweet_spot"] else "outside")


def sparsity_line(dense, sparse):
    rate = lambda row: row["gstencil_per_s"]
    return (case_text(dense), dense["fuse"], dense["layout"],
            *(f"{row['model']['I_flop_per_byte']:,.4g} of {ridge(row):,.3g}" for row in (dense, sparse)),
            dense["model"]["bound"], sparse["model"]["bound"], f"{rate(dense):,.0f}", f"{rate(sparse):,.0f}",
            f"{rate(sparse) / rate(dense):.2f}")


if number == "2":
    counted = {key(row): row for row in rows_of(files[1])}
    table(["case", "t:", "unit, layout", "alpha:", "S:", "C:", "M:", "I:", "C counted:", "M counted:", "I counted:"],
          [counted_line(row, counted[key(row)]) for row in rows if key(row) in counted])
elif number == "3":
    table(["case", "t:", "unit, layout", "I:", "ridge:", "bound", "GStencil/s:", "model:", "x CUDA cores:", "scenario:", "sweet spot"],
          map(bottleneck_line, rows))
else:
    pairs = [(dense, sparse) for dense in rows for sparse in rows if case(dense) == case(sparse)
             and dense["layout"] == sparse["layout"] and (dense["unit"], sparse["unit"]) == ("tensor", "sparse-tensor")]
    table(["case", "t:", "layout", "I of ridge, dense:", "sparse:", "bound, dense", "sparse", "GStencil/s, dense:", "sparse:",
           "sparse / dense:"], [sparsity_line(*pair) for pair in pairs])
