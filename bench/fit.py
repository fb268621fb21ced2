#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits coefficients of the model to records of `spsolve bench --json`, and writes a calibration.

fit.py --predict build/default/spsolve_predict RECORD... --coefficients march.kernel_gap direct. [-o calibration.json]

A RECORD is a file of `spsolve bench --json`, or a record as RECORD.json:RUN,RUN (bench/rows.py).
A name that ends with a dot stands for its whole group. Minimises the squares of log(predicted / measured) over all rows by
Gauss-Newton steps in the logarithms of the coefficients. Each is held to its shipped value by a prior of 30%, so that what the
records say nothing of stays. Prints every coefficient with its shipped value and the standard deviation of the fit: that of the
residuals, as if rows were independent. The program itself evaluates the model (app/bench/predict_records.cpp).
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy

from rows import rows_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORDS = ("suites-h200.json:candidates,paper-candidates",)  # that tests fit
PRIOR_SPREAD, NUDGE, LONGEST_STEP = 0.3, 0.01, 0.3


def shipped():
    """Returns {name: value} of calibration/h200.json."""
    groups = json.loads((ROOT / "calibration" / "h200.json").read_text())["groups"]
    return {f"{group['group']}.{row['name']}": row["value"] for group in groups for row in group["coefficients"]}


class Model:
    """Predicts the rates of all rows of some records, by the program."""

    def __init__(self, program, records):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(rows_of(*records), file)
            file.flush()
            self.process = subprocess.Popen([program, ROOT / "inputs", file.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.rows = json.loads(self.process.stdout.readline())
        self.rates = numpy.array([row["rate"] for row in self.rows])

    def residuals(self, values):
        """Returns log(predicted / measured) of every row with these coefficients, others as shipped."""
        self.process.stdin.write(json.dumps(values) + "\n")
        self.process.stdin.flush()
        return numpy.log(numpy.array(json.loads(self.process.stdout.readline())) / self.rates)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def fit(model, names, steps=6):
    """Returns {name: (value, standard deviation of its logarithm)}, and the mean square of residuals before and after."""
    start = {name: value for name, value in shipped().items() if name in names}
    names = list(start)
    moved = numpy.zeros(len(names))
    at = lambda logs: {name: start[name] * float(numpy.exp(log)) for name, log in zip(names, logs)}
    # Rows that no coefficient of any value changes, and those that the model is far off of, say nothing.
    before = here = model.residuals(at(moved))
    counted = numpy.abs(before) < 0.5
    for _ in range(steps):
        slopes = numpy.array([(model.residuals(at(moved + NUDGE * unit)) - here)[counted] / NUDGE for unit in numpy.eye(len(names))]).T
        depends = numpy.abs(slopes).max(axis=1) > 1e-6
        spread = max(0.02, float(numpy.sqrt(numpy.mean(here[counted][depends] ** 2))))
        a = slopes.T @ slopes / spread**2 + numpy.eye(len(names)) / PRIOR_SPREAD**2
        b = -slopes.T @ here[counted] / spread**2 - moved / PRIOR_SPREAD**2
        moved += numpy.clip(numpy.linalg.solve(a, b), -LONGEST_STEP, LONGEST_STEP)
        here = model.residuals(at(moved))
    deviations = numpy.sqrt(numpy.diag(numpy.linalg.inv(a)))
    square = lambda residuals: float(numpy.mean(residuals[counted][depends] ** 2))
    return {name: (start[name] * float(numpy.exp(m)), float(d)) for name, m, d in zip(names, moved, deviations)}, square(before), square(here)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("records", nargs="+")
    arguments.add_argument("--predict", type=pathlib.Path, default=ROOT / "build" / "default" / "spsolve_predict")
    arguments.add_argument("--coefficients", nargs="+", required=True)
    arguments.add_argument("-o", "--output", type=pathlib.Path)
    options = arguments.parse_args()
    names = [name for name in shipped() if any(name == asked or (asked.endswith(".") and name.startswith(asked)) for asked in options.coefficients)]
    if not names:
        arguments.error("no coefficient of calibration/h200.json has this name")
    model = Model(options.predict, options.records)
    found, before, after = fit(model, names)
    model.close()
    print(f"{len(model.rows)} rows; mean square of log(predicted / measured): {before:.5f} as shipped, {after:.5f} fitted")
    for name, (value, deviation) in found.items():
        print(f"{name:<32} {value:10.4g} +- {100 * deviation:4.1f}%   shipped {shipped()[name]:10.4g}")
    if options.output:
        text = {"device": "fitted to " + ", ".join(options.records),
                "coefficients": {name: value for name, (value, _) in found.items()}}
        options.output.write_text(json.dumps(text, indent=2) + "\n")


if __name__ == "__main__":
    main()
