#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a record of benchmark rows: the measurements, device, date and command.

record.py RECORD RUN rows.json... --command TEXT --device TEXT --commit HASH --date DATE [--note TEXT] [--suite NAME]... [--full]

Adds the run to the record (bench/rows.py has the format), or replaces the run of that name. Numbers keep six digits.
Without --full, rows keep only what tables, pictures and tests read.
"""
import argparse
import json
import pathlib

from rows import compact, runs_of, write_record

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("record", type=pathlib.Path)
arguments.add_argument("run", help="name of the run")
arguments.add_argument("rows", type=pathlib.Path, nargs="+")
for key in ("command", "device", "commit", "date"):
    arguments.add_argument(f"--{key}", required=True)
arguments.add_argument("--note")
arguments.add_argument("--suite", action="append", help="only rows of this suite")
arguments.add_argument("--full", action="store_true", help="everything that a row holds")
options = arguments.parse_args()

KEPT = ("suite", "stencil", "shape", "boundary", "wall_values", "taps", "source", "precision", "unit", "layout", "fuse", "step", "strided", "ranks", "gstencil_per_s",
        "gstencil_per_s_sustained", "predicted_gstencil_per_s", "chosen", "roofline_fraction", "compute_fraction", "error_l2", "error_steps",
        "error", "clock_mhz", "power_w", "measured_C_flop", "measured_M_bytes", "kernel")


def rounded(value):
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list) else value


rows = [row for file in options.rows for row in json.loads(file.read_text()) if not options.suite or row["suite"] in options.suite]
if not options.full:
    rows = [{key: row[key] for key in KEPT if key in row} for row in rows]
head = {key: getattr(options, key) for key in ("command", "device", "commit", "date", "note") if getattr(options, key)}
run = compact({"name": options.run, **head}, rounded(rows))
runs = runs_of(options.record) if options.record.exists() else []
if options.run in (other["name"] for other in runs):
    runs = [run if other["name"] == options.run else other for other in runs]
else:
    runs.append(run)
write_record(options.record, runs)
