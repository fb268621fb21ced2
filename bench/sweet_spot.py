#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables 2 to 4 of paper 003 for spsolve, in Markdown, from `spsolve bench --suite sweet-spot --json` and bench/counters.py.

sweet_spot.py rows.json [counted.json]

Per point and launch: C in flop, M in bytes, I = C / M, of the model and, in brackets, as counted by the hardware. The bound is
the model's; scenario and sweet spot compare a unit with CUDA cores at the same depth.
"""
import json
import pathlib
import sys

rows = json.loads(pathlib.Path(sys.argv[1]).read_text())
rows = [row for row in rows if row.get("suite", "sweet-spot") == "sweet-spot"]
key = lambda row: tuple(str(row[name]) for name in ("stencil", "precision", "unit", "layout", "fuse"))
counted = {key(row): row for row in json.loads(pathlib.Path(sys.argv[2]).read_text())} if len(sys.argv) > 2 else {}

print("| case | t | unit, layout | C | M | I | alpha | S | bound | scenario | GStencil/s | of the model |")
print("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | --- | --- | ---: | ---: |")
for row in rows:
    model, found = row["model"], counted.get(key(row))
    C, M = (found["measured_C_flop"], found["measured_M_bytes"]) if found else (None, None)
    with_count = lambda value, count: f"{value:,.4g}" + (f" ({count:,.4g})" if count is not None else "")
    way = row["unit"] + ("" if row["layout"] == "none" else f", {row['layout']}")
    scalar = row["unit"] == "scalar"
    print(f"| {row['stencil']} {row['precision']} | {row['fuse']} | {way} | {with_count(model['C_flop'], C)} "
          f"| {with_count(model['M_bytes'], M)} | {with_count(model['I_flop_per_byte'], C / M if found else None)} "
          f"| {'' if scalar else format(model['alpha'], '.3g')} | {'' if scalar else format(model['S'], '.3g')} | {model['bound']} "
          f"| {'' if scalar else str(model['scenario']) + (', sweet spot' if model['in_sweet_spot'] else '')} "
          f"| {row['gstencil_per_s']:,.0f} | {row['predicted_gstencil_per_s'] / row['gstencil_per_s']:.2f} |")
