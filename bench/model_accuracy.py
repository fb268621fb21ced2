#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports the accuracy of the model and of its choices, from files of `spsolve bench --candidates N --json`.

model_accuracy.py RESULTS... [--cases]     (files of rows, or records as RECORD.json:RUN,RUN)

A case is a stencil on a grid in a precision between walls. Of several files or runs the last that has a case says what was chosen;
rates of all count. Prints a Markdown table: choices whose rate was predicted within 25%, and choices that are at least 95% as
fast as the best candidate that was measured, of the cases where there was more than one; and those where the fastest of what
compute.tune = "auto" would time is. --cases: also where choices are not.
"""
import argparse
import collections
import json

from rows import predicted, rows_of

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("results", nargs="+")
arguments.add_argument("--cases", action="store_true")
options = arguments.parse_args()

KEYS = ("stencil", "precision", "shape", "boundary", "source", "ranks")
WAY = ("unit", "layout", "fuse")
MAY_BE_FASTEST = 1.5  # slower methods in the model are not measured (app/tune.cpp)
cases = collections.defaultdict(dict)  # case: {way: row}
chosen, suites = {}, {}
for file in options.results:
    for row in rows_of(file):
        if row["suite"] in ("sweet-spot", "ablation", "systems"):  # these suites fix units, layouts and depths
            continue
        case = json.dumps([row.get(key, False) for key in KEYS])  # old rows have no source key
        way = tuple(row[key] for key in WAY)
        cases[case][way] = row
        seed = row["stencil"].split(".")[0]
        suites[case] = f"random, seed {seed}" if row["suite"] == "random" else f"{row['suite']}, {row['precision']}"
        if row["chosen"]:
            chosen[case] = way


def text(row):
    rate = row["gstencil_per_s"]
    return f"{row['unit']} {row['layout']} {row['fuse']}: {rate:.0f} ({predicted(row):.2f})"


def fastest_timed(rows):
    promised = lambda row: row["gstencil_per_s"] * predicted(row)
    most = max(map(promised, rows))
    return max(row["gstencil_per_s"] for row in rows if MAY_BE_FASTEST * promised(row) >= most)


table = collections.defaultdict(lambda: [0, 0, 0, 0, 0])
for case, way in chosen.items():
    rows = cases[case]
    row = rows[way]
    best = max(rows.values(), key=lambda other: other["gstencil_per_s"])
    close, fast = abs(predicted(row) - 1) <= 0.25, row["gstencil_per_s"] >= 0.95 * best["gstencil_per_s"]
    for count in (table[suites[case]], table["all"]):
        count[0] += close
        count[1] += 1
        if len(rows) > 1:
            count[2] += fast
            count[3] += 1
            count[4] += fastest_timed(rows.values()) >= 0.95 * best["gstencil_per_s"]
    if options.cases and not (close and fast):
        print(f"{' '.join(map(str, json.loads(case)[:2]))} {json.loads(case)[2]} {json.loads(case)[3][-1]}: chosen {text(row)}, best {text(best)}")
print("| cases | predicted within 25% | at least 95% of the best measured | when timed |\n| --- | ---: | ---: | ---: |")
for name in sorted(table, key=lambda name: (name == "all", name)):
    close, count, fast, compared, tuned = table[name]
    share = lambda part, whole: f"{part} of {whole} ({100 * part / whole:.0f}%)" if whole else "-"
    print(f"| {name} | {share(close, count)} | {share(fast, compared)} | {share(tuned, compared)} |")
