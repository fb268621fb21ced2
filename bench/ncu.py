# SPDX-License-Identifier: Apache-2.0
"""Counters of the kernels that a command launches, by ncu of CUDA."""
import csv
import io
import re
import subprocess


def output_of(command, metrics, *options, timeout=None):
    """Returns what ncu and the command print, in order; counters are lines of CSV. `options` are those of ncu."""
    return subprocess.run(["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", *options, "--metrics",
                           ",".join(metrics), *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout).stdout


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


def cases_in(text, metrics):
    """Returns the words of each `case` line of `spsolve bench --compile-only`, and the kernels of this case. ncu says of each kernel that
    it profiles it, before the next line of the command. Cases without kernels are left out. Raises ValueError if lines do not fit."""
    cases, profiled = [], 0
    for line in text.splitlines():
        if line.startswith("case "):
            cases.append((line.split()[1:], profiled))
        profiled += bool(re.match(r'==PROF== Profiling "', line))
    kernels = kernels_in(text, metrics)
    if not cases or len(kernels) != profiled:
        raise ValueError(f"{len(cases)} cases, {profiled} profiled kernels, counters of {len(kernels)}")
    ends = [first for _, first in cases[1:]] + [profiled]
    return [(words, kernels[first:end]) for (words, first), end in zip(cases, ends) if first < end]
