#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the steps of the sparse GEMM: rates, clock and power under load, and counters of their kernels.

gemm.py SPSOLVE gemm.json [OPTIONS of spsolve bench --suite gemm]     (needs nvidia-smi; counters need ncu)
"""
import json
import pathlib
import sys
import tempfile

import ncu
from under_load import power_limit, run_sampled

METRICS = {
    "ns": "gpu__time_duration.sum", "registers": "launch__registers_per_thread",
    "tensor": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "dram": "dram__throughput.avg.pct_of_peak_sustained_elapsed", "l2": "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
    "l1": "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
    "stall_gmma": "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio",
}


def counters_of(command):
    """Returns {name: value} for each launch of the GEMM."""
    kernels = ncu.kernels_of([*command, "--compile-only"], METRICS.values(), "-k", "sparse_gemm")
    return [{name: values[metric] for name, metric in METRICS.items() if metric in values} for _, values in kernels]


def main(program, out, *options):
    file = pathlib.Path(tempfile.mkdtemp()) / "gemm.json"
    command = [program, "bench", "--suite", "gemm", *options]
    status, text, rows = run_sampled([*command, "--json", str(file)], lambda: json.loads(file.read_text()))
    print(text, end="", flush=True)
    if status:
        sys.exit(status)
    try:
        counted = counters_of(command)
    except (OSError, ValueError) as error:
        print(f"no counters: {error!r}")
        counted = []
    for row, kernel in zip(rows, counted if len(counted) == len(rows) else []):
        row["kernel"] = kernel
    for row in rows:
        row["power_limit_w"] = power_limit()
    pathlib.Path(out).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
