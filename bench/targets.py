#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cases that have target rates: rates, clock and power during the runs, and counters of their kernels.

targets.py SPSOLVE targets.json [--shard K N]   (needs ncu and nvidia-smi; --shard: part of the cases)

Runs `spsolve bench --suite targets`, then counters.py on its rows. Clock and power are medians of nvidia-smi samples, taken
ten times a second during the last repetitions of a case.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from under_load import run_sampled

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("spsolve")
arguments.add_argument("targets", type=pathlib.Path)
arguments.add_argument("--shard", nargs=2, default=["0", "1"], metavar=("K", "N"), help="every N-th case from the K-th on")
options = arguments.parse_args()
work = pathlib.Path(tempfile.mkdtemp())
rows_file, counted_file = work / "rows.json", work / "counted.json"


status, text, rows = run_sampled([options.spsolve, "bench", "--suite", "targets", "--shard", *options.shard, "--json", str(rows_file)],
                                 lambda: json.loads(rows_file.read_text()))
if status:
    sys.exit(text)
print(text, end="", flush=True)
rows_file.write_text(json.dumps(rows))

subprocess.run([sys.executable, "-B", pathlib.Path(__file__).with_name("counters.py"), options.spsolve, rows_file, counted_file],
               check=True, stdout=subprocess.DEVNULL)
same = ("stencil", "shape", "precision", "fuse")
counted = {json.dumps([row[name] for name in same]): row for row in json.loads(counted_file.read_text())}
for row in rows:
    found = counted.get(json.dumps([row[name] for name in same]), {})
    row.update({name: found[name] for name in ("measured_C_flop", "measured_M_bytes", "kernel") if name in found})
options.targets.write_text(json.dumps(rows, indent=1) + "\n")
