#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a record of benchmark rows: the measurements, device, date and command.

record.py RECORD rows.json... --command TEXT --device TEXT --commit HASH --date DATE [--note TEXT] [--suite NAME]... [--full]

Numbers keep six digits. Without --full, rows keep only their identification, rates, errors and the model's numbers.
"""
import argparse
import json
import pathlib

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("record", type=pathlib.Path)
arguments.add_argument("rows", type=pathlib.Path, nargs="+")
for key in ("command", "device", "commit", "date"):
    arguments.add_argument(f"--{key}", required=True)
arguments.add_argument("--note")
arguments.add_argument("--suite", action="append", help="only rows of this suite")
arguments.add_argument("--full", action="store_true", help="everything that a row holds")
options = arguments.parse_args()

KEPT = ("suite", "stencil", "shape", "boundary", "taps", "source", "precision", "unit", "layout", "fuse", "steps_between_events", "ranks", "seconds",
        "steps", "gstencil_per_s", "predicted_gstencil_per_s", "chosen", "roofline_fraction", "compute_fraction", "bytes_per_point",
        "copy_bandwidth_gb_per_s", "fma_ceiling_gflop_per_s", "error_l2", "error_max", "error_steps", "model", "error",
        "measured_again_gstencil_per_s", "clock_mhz", "power_w", "measured_C_flop", "measured_M_bytes", "kernel")


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
lines = ",\n".join(json.dumps(rounded(row)) for row in rows)
options.record.write_text(json.dumps(head, indent=1)[:-2] + ',\n "results": [\n' + lines + "\n]}\n")
json.loads(options.record.read_text())
