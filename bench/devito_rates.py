#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures Devito on the 3D cases that bench_systems_cpu measures too, single steps in OpenMP without autotuning.

devito_rates.py [--case acoustic8]... [--precision fp32]... [--points 256] [--repeats 4] [--processor-time]

It prints G points x steps per second, the best and the median of repeats of nine steps. Where other programs share the
cores, --processor-time with OMP_NUM_THREADS=1 leaves out the time that they take.
"""
import argparse
import statistics
import time

import numpy
from devito import Eq, Function, Grid, Operator, TimeFunction, configuration

STEPS = 9
CASES = ("acoustic2", "acoustic8", "wave2", "wave8")


def step_of(case, points, precision):
    """Returns an operator that steps p'' = laplace(p), or c^2 laplace(p) for acoustic waves."""
    grid = Grid((points,) * 3, extent=(points - 1.0,) * 3, dtype={"fp32": numpy.float32, "fp64": numpy.float64}[precision])
    p = TimeFunction(name="p", grid=grid, time_order=2, space_order=int(case[-1]))
    p.data[:] = numpy.random.default_rng(1).uniform(0.1, 0.3, (points,) * 3)
    factor = 1
    if case.startswith("acoustic"):
        c = Function(name="c", grid=grid, space_order=0)
        c.data[:] = 1.0
        factor = c * c
    return Operator([Eq(p.forward, 2 * p - p.backward + factor * grid.stepping_dim.spacing**2 * p.laplace)])


def rates(case, points, precision, repeats, clock):
    operator = step_of(case, points, precision)
    operator.apply(time_m=0, time_M=1, dt=0.03)  # compiles
    for _ in range(repeats):
        begin = clock()
        operator.apply(time_m=0, time_M=STEPS - 1, dt=0.03)
        yield points**3 * STEPS / (clock() - begin) / 1e9


arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--case", action="append", choices=CASES)
arguments.add_argument("--precision", action="append", choices=("fp32", "fp64"))
arguments.add_argument("--points", type=int, default=256, help="per axis")
arguments.add_argument("--repeats", type=int, default=4)
arguments.add_argument("--processor-time", action="store_true")
options = arguments.parse_args()
configuration["log-level"] = "ERROR"
configuration["language"] = "openmp"
for case in options.case or CASES:
    for precision in options.precision or ("fp32", "fp64"):
        found = list(rates(case, options.points, precision, options.repeats, time.process_time if options.processor_time else time.perf_counter))
        print(f"{case} {precision} {options.points}^3: best {max(found):.3f} G/s, median {statistics.median(found):.3f} G/s", flush=True)
