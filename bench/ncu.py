# SPDX-License-Identifier: Apache-2.0
"""Counters of the kernels that a command launches, by ncu of CUDA."""
import csv
import io
import subprocess


def output_of(command, metrics, *options, timeout=None):
    """Returns what ncu and the command print; counters are lines of CSV. `options` are those of ncu."""
    return subprocess.run(["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", *options, "--metrics",
                           ",".join(metrics), *command], capture_output=True, text=True, timeout=timeout).stdout


def kernels_in(text, metrics):
    """Returns the name and {metric: value} of each kernel. Metrics that ncu does not know are left out. Raises ValueError if there are
    no counters."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    if len(lines) < 3:
        raise ValueError(text[-300:])
    _, *kernels = csv.DictReader(io.StringIO("\n".join(lines)))  # the first row holds units
    number = lambda text: 0.0 if text in ("", "n/a") else float(text.replace(",", ""))
    return [(kernel["Kernel Name"], {name: number(kernel[name]) for name in metrics if name in kernel}) for kernel in kernels]


def kernels_of(command, metrics, *options, timeout=None):
    """Returns the kernels of a command as kernels_in() does."""
    return kernels_in(output_of(command, metrics, *options, timeout=timeout), metrics)
