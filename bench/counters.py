#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts traffic and work of kernels by hardware counters, beside the numbers of the model (paper 003, table 2).

counters.py SPSOLVE CASES counted.json [--most SECONDS] [--each SECONDS] [--gpus GPU,GPU] [--compile N] [--work]

It needs ncu of CUDA and a GPU whose counters may be read.

CASES are rows of `spsolve bench --json` or of a record (bench/rows.py). Each is launched once under ncu (`bench --compile-only`),
in a process of its own, since ncu does not say with --csv when it profiles a kernel. A GPU counts one row after the other. Processes
of ncu wait for each other by a lock file in TMPDIR, so each gets a directory of its own.

The first kernel fills the ghost points of the initial state and is left out. The row gets the memory traffic and work of that launch's
kernels per point: measured M (bytes) and C (flop). CUDA cores are counted by instruction, and tensor cores by their operation counters
or, if there are none, by the size of their instructions. "kernel" holds the resources and utilization of the longest kernel. Rows are
written as soon as they are known. A row that counted.json holds already is not counted again, so that the same command goes on where
one was cut off.
"""
import argparse
import concurrent.futures
import contextlib
import itertools
import json
import math
import os
import pathlib
import queue
import re
import subprocess
import sys
import tempfile
import time

import ncu
from rows import rows_of
from sweet_spot import key_of as kernel_of, runs_dense_wgmma

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("spsolve")
arguments.add_argument("cases", help="FILE, or RECORD:RUN,RUN")
arguments.add_argument("counted", type=pathlib.Path)
arguments.add_argument("--most", type=float, default=math.inf, help="seconds after which no further process is begun")
arguments.add_argument("--each", type=float, default=60, help="seconds after which a process is ended and its row is left out")
arguments.add_argument("--gpus", default="0", help="GPUs that share the rows, as CUDA_VISIBLE_DEVICES names them, such as 0,1,2,3")
arguments.add_argument("--compile", type=int, default=0, metavar="N", help="first compile the kernels of all rows, N processes side by side")
arguments.add_argument("--work", action="store_true", help="count only memory traffic and operations, which takes fewer passes")
options = arguments.parse_args()

BYTES = ["dram__bytes_read.sum", "dram__bytes_write.sum"]
# This table says how much flop an instruction of a thread is.
THREADS = {f"smsp__sass_thread_inst_executed_op_{kind}{op}_pred_on.sum": flop
           for kind in "fd" for op, flop in (("fma", 2), ("add", 1), ("mul", 1))}
TENSOR = "sm__inst_executed_pipe_tensor.sum"
TIME = "gpu__time_duration.sum"
SHARE = ".avg.pct_of_peak_sustained_elapsed"
STALLS = ("barrier", "branch_resolving", "dispatch_stall", "drain", "gmma", "imc_miss", "lg_throttle", "long_scoreboard",
          "math_pipe_throttle", "membar", "mio_throttle", "no_instruction", "not_selected", "short_scoreboard", "sleeping",
          "tex_throttle", "wait")
# These metrics are reported per kernel. Shares are in percent of the peak during the kernel; stalls of a warp are in cycles per issued instruction.
KERNEL = {
    "ns": TIME, "clock_hz": "sm__cycles_elapsed.avg.per_second",
    "registers": "launch__registers_per_thread", "threads": "launch__block_size", "blocks": "launch__grid_size",
    "shared_bytes": "launch__shared_mem_per_block_dynamic", "waves": "launch__waves_per_multiprocessor",
    "warps_per_multiprocessor": "sm__warps_active.avg.per_cycle_active",
    "dram": "dram__throughput" + SHARE, "l2": "lts__t_sectors" + SHARE, "issue": "smsp__issue_active" + SHARE,
    "tensor": "sm__pipe_tensor_cycles_active" + SHARE, "fma": "sm__inst_executed_pipe_fma" + SHARE,
    "fp64": "sm__inst_executed_pipe_fp64" + SHARE, "lsu_data": "l1tex__data_pipe_lsu_wavefronts" + SHARE,
    "shared_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    **{f"bank_conflicts_{access}": f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{access}.sum" for access in ("ld", "st")},
    **{f"stall_{reason}": f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio" for reason in STALLS},
}


key_of = lambda row: (*kernel_of(row), tuple(row["shape"]))


def metrics_of_gpu():
    """Returns the names, without suffixes, of all counters of this GPU."""
    try:
        text = subprocess.run(["ncu", "--query-metrics"], capture_output=True, text=True, timeout=60).stdout
    except FileNotFoundError:
        sys.exit("there is no ncu, the profiler of CUDA; PATH must lead to it")
    return set(re.findall(r"^(\w+__\w+)", text, re.MULTILINE))


known = metrics_of_gpu()
# These metrics count flop of the tensor pipe, including those of skipped zeros.
OPERATIONS = [f"{name}.sum" for name in sorted(known) if re.match(r"sm__ops_path_tensor_src_(fp16|bf16|tf32|fp64)", name)]
SUMS = [TENSOR, *BYTES, *THREADS, *OPERATIONS]
METRICS = SUMS + ([TIME] if options.work else
                  [name for name in KERNEL.values() if name.startswith("launch__") or name.split(".")[0] in known])


def depth(row):
    """Returns k of the instructions of a row."""
    sparse = row["unit"] == "sparse-tensor"
    if row["precision"] == "fp64":
        return 4  # the pipe executes m16n8k16 as four instructions
    half = row["precision"] in ("fp16", "bf16") or row["precision"] == "fp32" and row["layout"] != "separable"
    return (16 if half else 8) * (2 if sparse else 1)


def commands():
    """Yields a command for each row, and the row."""
    common = [options.spsolve, "bench", "--compile-only", "--no-graphs", "--share-gpus"]
    for row in rows_of(options.cases):
        if key_of(row) in map(key_of, counted):
            continue
        command = [*common, "--stencil", row["stencil"], "--precision", row["precision"], "--unit", row["unit"], "--fuse", str(row["fuse"]),
                   "--shape", ",".join(map(str, row["shape"]))]
        yield command + (["--layout", row["layout"]] if row["layout"] != "none" else []), row


def metrics_of(row):
    """Returns the metrics of a row: with --work only those that its instructions can move, since each pass of ncu repeats the kernel. Dense
    wgmma does not end while ncu counts instructions of threads. It is counted without them, which leaves out one multiplication per
    result."""
    metrics = METRICS
    if options.work:
        kind = "d" if row["precision"] == "fp64" else "f"
        threads = [name for name in THREADS if f"_op_{kind}" in name]
        metrics = [*BYTES, *threads, TIME] + ([] if row["unit"] == "scalar" else OPERATIONS or [TENSOR])
    return [name for name in metrics if name not in THREADS] if runs_dense_wgmma(row) else metrics


def counted_case(kernels, row):
    """Returns a row with the counters of its kernels; `row` is what was known of it."""
    kept = ("stencil", "shape", "precision", "unit", "layout", "fuse", "model")
    counted = {key: row[key] for key in kept if key in row}
    found = {name: sum(values.get(name, 0) for _, values in kernels) for name in SUMS}
    points = math.prod(counted["shape"])
    flop = sum(found[name] * each for name, each in THREADS.items())
    if row["unit"] != "scalar":
        flop += sum(found[name] for name in OPERATIONS) or found[TENSOR] * 2 * 16 * 8 * depth(counted)
    name, longest = max(kernels, key=lambda kernel: kernel[1][TIME])
    counted.update({"measured_C_flop": flop / points, "measured_M_bytes": sum(found[name] for name in BYTES) / points,
                    "counters": {**{name: value for name, value in found.items() if value}, "kernels": [name for name, _ in kernels]},
                    "kernel": {"name": name, **{key: longest[metric] for key, metric in KERNEL.items() if metric in longest}}})
    print("{stencil} {precision} {unit} {layout} {fuse}: C {measured_C_flop:.4g}, M {measured_M_bytes:.4g}".format(**counted), flush=True)
    return counted


def environment_of(gpu, processes):
    """Returns the environment of one of `processes` processes side by side, which sees one GPU alone. They share the cores: with a thread
    per core each, threads would wait for each other."""
    return {**os.environ, "CUDA_VISIBLE_DEVICES": gpu, "OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // processes))}


@contextlib.contextmanager
def free_gpu():
    """Waits for a GPU that counts no row, and returns the environment in which processes see it alone."""
    gpu = gpus.get()
    try:
        with tempfile.TemporaryDirectory() as directory:
            yield {**environment_of(gpu, len(names)), "TMPDIR": directory}
    finally:
        gpus.put(gpu)


def compile_kernels(command, gpu):
    """Runs a command without ncu, so that the cache holds its kernels. It is ended like a row that takes too long."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(command, env=environment_of(gpu, options.compile), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=options.each)


def counted_rows(command, row):
    """Returns the rows of one process; none if it fails."""
    try:
        with free_gpu() as environment:
            if time.monotonic() - begin > options.most:
                return []
            return [counted_case(ncu.kernels_of(command, metrics_of(row), "--launch-skip", "1", timeout=options.each, environment=environment), row)]
    except subprocess.TimeoutExpired:
        print(f"{' '.join(command[5:])}: more than {options.each:g} s", flush=True)
    except (ValueError, KeyError) as error:
        print(f"{' '.join(command[5:])}: {error!r}", flush=True)
    return []


begin = time.monotonic()
part = options.counted.with_name(options.counted.name + ".part")
counted = json.loads(options.counted.read_text()) if options.counted.exists() else []
cases = list(commands())
names = options.gpus.split(",")
gpus = queue.SimpleQueue()
for name in names:
    gpus.put(name)
if options.compile:
    with concurrent.futures.ThreadPoolExecutor(options.compile) as pool:
        list(pool.map(compile_kernels, (command for command, _ in cases), itertools.cycle(names)))
with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
    for done in concurrent.futures.as_completed([pool.submit(counted_rows, *one) for one in cases]):
        counted += done.result()
        part.write_text(json.dumps(counted, indent=1) + "\n")
        part.replace(options.counted)  # at once, so that a cut leaves all rows of before
