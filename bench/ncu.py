# SPDX-License-Identifier: Apache-2.0
"""Reads counters of the kernels that a command launches, by ncu of CUDA."""
import csv
import io
import os
import signal
import subprocess


def output_of(command, metrics, *options, timeout=None, environment=None):
    """Returns what ncu and the command print; counters are lines of CSV. `options` are those of ncu. After `timeout` seconds both are
    ended, since the command would run on without ncu, and subprocess.TimeoutExpired is raised. Both run in `environment`, or in that of
    the caller."""
    ncu = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", *options, "--metrics", ",".join(metrics)]
    with subprocess.Popen([*ncu, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
                          env=environment) as process:
        try:
            return process.communicate(timeout=timeout)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise


def kernels_in(text, metrics):
    """Returns the name and {metric: value} of each kernel. Metrics that ncu does not know are left out. Raises ValueError if there are
    no counters."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    if len(lines) < 3:
        raise ValueError(text[-300:])
    _, *kernels = csv.DictReader(io.StringIO("\n".join(lines)))  # the first row holds units
    number = lambda text: 0.0 if text in ("", "n/a") else float(text.replace(",", ""))
    return [(kernel["Kernel Name"], {name: number(kernel[name]) for name in metrics if name in kernel}) for kernel in kernels]


def kernels_of(command, metrics, *options, timeout=None, environment=None):
    """Returns the kernels of a command as kernels_in() does."""
    return kernels_in(output_of(command, metrics, *options, timeout=timeout, environment=environment), metrics)
