# SPDX-License-Identifier: Apache-2.0
"""Samples clock and power of a GPU while `spsolve bench` runs, by nvidia-smi ten times a second."""
import os
import statistics
import subprocess
import threading
import time


def lines_with_time(command, lines):
    """Starts a command. Its lines are appended to `lines` with their arrival times."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, bufsize=1)
    reader = threading.Thread(target=lambda: lines.extend((time.monotonic(), line) for line in process.stdout), daemon=True)
    reader.start()
    return process, reader


def run_sampled(command, rows_of_run, seconds=0.5):
    """Runs a command that prints a line after each case. Its last lines belong to the rows that `rows_of_run()` returns then; rows
    without an error get the medians of clock_mhz and power_w over the last seconds of their case. Returns the status, the text of
    the command and the rows."""
    samples, printed = [], []
    gpu = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]  # the first GPU is used; the others stay idle
    sampler, _ = lines_with_time(["stdbuf", "-oL", "nvidia-smi", "-i", gpu, "--query-gpu=clocks.sm,power.draw",
                                  "--format=csv,noheader,nounits", "-lms", "100"], samples)
    bench, reader = lines_with_time(command, printed)
    status = bench.wait()
    reader.join()
    sampler.terminate()
    text = "".join(line for _, line in printed)
    if status:
        return status, text, []
    rows = rows_of_run()
    for row, (end, _) in zip(rows, printed[-len(rows):]):
        during = [tuple(map(float, line.split(","))) for at, line in samples if end - seconds < at < end]
        if during and "error" not in row:
            row["clock_mhz"], row["power_w"] = (statistics.median(values) for values in zip(*during))
    return status, text, rows


def power_limit():
    """Returns the limit of the first GPU in watts."""
    text = subprocess.run(["nvidia-smi", "--query-gpu=enforced.power.limit", "--format=csv,noheader,nounits"], capture_output=True, text=True)
    return float(text.stdout.split()[0])
