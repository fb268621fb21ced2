# SPDX-License-Identifier: Apache-2.0
"""Random systems of equations: snapshots, streams, probes, diagnostics and sums against numpy (system_model.py), and the same files
from several ranks, other depths and after a restart. SPSOLVE_RANDOM_CASES=n runs n of them instead of 20, and SPSOLVE_RANDOM_SEED=s
begins with the seed s."""
import itertools
import os
import random
import shutil
import unittest

import h5py
import numpy as np

import numpy_model
import spsolve
import system_model
import wall_model
from rounding_model import UNIT

FIRST, CASES = int(os.environ.get("SPSOLVE_RANDOM_SEED", "0")), int(os.environ.get("SPSOLVE_RANDOM_CASES", "20"))
LENGTHS = {1: [1, 2, 3, 7, 19, 64, 101], 2: [1, 2, 3, 5, 13, 17, 23], 3: [1, 2, 3, 4, 7, 9]}
STORED = {"fp64": np.float64, "fp32": np.float32}


def evaluate(formula, names):
    return eval(system_model.python(formula), {**system_model.FUNCTIONS, **names})


class RandomSystem:
    """Holds a problem as an input file, and what its model takes. Every term is about as large as the fields or less, so that
    nothing grows for long."""

    def __init__(self, seed, directory):
        self.random, self.numbers, self.directory = random.Random(seed), np.random.default_rng(seed), directory
        self.steps, self.precision = self.random.randint(1, 9), self.random.choice(["fp64", "fp64", "fp32"])
        self.linear, self.varies = self.some(0.5), self.some(0.7)
        self.fields = self.random.sample(["u", "v", "w", "p"], self.random.randint(1, 4))
        self.sections = {"time": {"steps": self.steps}, "compute": {"precision": self.precision}, "output": {"directory": "out"}}
        self.draw_grid()
        self.draw_values()
        self.text = self.random_step()
        self.sections["equations"] = {"step": self.text}
        self.draw_events()
        self.file = spsolve.write_input(directory / "system.toml", self.sections)

    def draw_grid(self):
        d = self.random.choice([1, 2, 2, 3])
        draw = lambda one: [one() for _ in range(d)]
        self.grid = wall_model.Grid(draw(lambda: self.random.choice(LENGTHS[d])), draw(lambda: self.uniform(0.3, 1.2)),
                                    draw(lambda: self.uniform(-1, 1)), draw(lambda: self.some(0.35)), self.uniform(0.05, 0.2))
        self.sections["grid"] = {"shape": self.grid.shape, "spacing": self.grid.spacing, "origin": self.grid.origin}
        self.sections["time"]["dt"] = self.grid.dt
        plain = self.some(0.5)  # so that there are kernels that take several steps
        face = lambda axis: self.grid.random_wall(axis, self.random, self.numbers, self.directory / "faces.h5", plain)
        self.walls = {}
        for field in self.fields:  # the first has the walls of [boundary], and some of the others have them, too
            self.walls[field] = [(face(axis), face(axis)) for axis in range(d)]
            if len(self.walls) > 1 and self.some(0.5):
                self.walls[field] = self.walls[self.fields[0]]
            else:
                self.sections[f"boundary.{field}" if len(self.walls) > 1 else "boundary"] = {
                    axis: "periodic" if periodic else {"low": low.key, "high": high.key}
                    for axis, periodic, (low, high) in zip(self.grid.axes, self.grid.periodic, self.walls[field])}

    def draw_values(self):
        extents = [self.random.randint(1, 4) for _ in self.grid.shape]
        weights = self.numbers.uniform(-1, 1, extents)
        weights /= np.abs(weights).sum()
        self.stencils = {"s": (weights, [self.random.randrange(n) for n in extents])}
        self.sections["stencils.s"] = {"weights": weights.tolist(), "center": self.stencils["s"][1]}
        self.constants = self.sections["constants"] = {"a": self.uniform(0.2, 0.9), "b": self.uniform(-2, 2)}
        self.coefficients, self.initial, self.previous = {}, {}, {}
        self.sections["coefficients"] = {}
        for name in self.random.sample(["k", "m"], self.random.randint(0, 2) if self.varies else 0):
            self.coefficients[name], self.sections["coefficients"][name] = self.values(name, 0.4, 0.5)
        for name in self.fields:
            keys = self.sections[f"fields.{name}"] = {}
            self.initial[name] = np.zeros(self.grid.shape)
            if self.some(0.9):
                self.initial[name], keys["initial"] = self.values(f"{name}_initial", 1.0, 0.0)
            self.previous[name] = self.initial[name]
            if self.some(0.5):
                self.previous[name], keys["previous"] = self.values(f"{name}_previous", 1.0, 0.0)

    def draw_events(self):
        self.every = {name: self.random.randint(1, 4) for name in ("output", "diagnostics", "checkpoint", "probes", "outputs")}
        self.sum = f"{self.random.choice(self.fields)}*{self.fields[0]} + 0.1*x - cos(t)"
        self.sections["output"] |= {"every": self.every["output"], "precision": self.precision}
        self.sections["diagnostics"] = {"every": self.every["diagnostics"], "sums": {"total": self.sum}}
        self.sections["checkpoint"] = {"every": self.every["checkpoint"], "keep": 99}
        self.places, self.region, self.sources = [self.random_place() for _ in range(3)], self.random_region(), []
        if self.some(0.5):
            low, high, stride = self.region
            self.sections["outputs"] = [{"name": "part", "every": self.every["outputs"], "stride": stride, "fields": self.fields[-1:], "region": {
                axis: [o + h * (i - 0.3), o + h * (k + 0.3)]
                for axis, o, h, i, k in zip(self.grid.axes, self.grid.origin, self.grid.spacing, low, high)}}]
        if self.some(0.4):
            self.sections["probes"] = [{"name": "some", "at": self.places, "every": self.every["probes"]}]
        if self.some(0.2):
            field, place, formula = self.random.choice(self.fields), self.random_place(), f"{self.uniform(-0.3, 0.3)}*cos(5*t) + 0.01*step"
            self.sources = [(field, *zip(*self.corners(place)), formula)]
            self.sections["point_sources"] = [{"field": field, "at": place, "value": formula}]

    def some(self, share):
        return self.random.random() < share

    def uniform(self, low, high):
        return round(self.random.uniform(low, high), 4)

    def values(self, name, size, middle):
        """Returns values no further than `size` from `middle`, and the key that gives them: a number, a formula, or a dataset."""
        form = self.random.choice(["number", "formula", "choice", "dataset"])
        key = {"number": self.uniform(middle - size, middle + size),
               "formula": f"{middle} + {size}*sin({self.uniform(0.5, 3)}*{self.axis()} + a)*cos(b*{self.axis()})",
               "choice": f"(x < {self.uniform(-1, 4)} ? {self.uniform(middle, middle + size)} : {self.uniform(middle - size, middle)})",
               "dataset": {"file": "values.h5", "dataset": name}}[form]
        if form == "dataset":
            values = self.numbers.uniform(middle - size, middle + size, self.grid.shape)
            with h5py.File(self.directory / "values.h5", "a") as file:
                file[name] = values
            return values, key
        return np.zeros(self.grid.shape) + evaluate(str(key), {**self.grid.points(), **self.constants}), key

    def random_place(self):
        """Returns coordinates of a point of the grid, or between points."""
        index = [self.random.randrange(n) + (self.uniform(0, 1) if self.some(0.5) else 0) for n in self.grid.shape]
        return [o + h * (i if periodic else min(i, n - 1)) for o, h, i, n, periodic in
                zip(self.grid.origin, self.grid.spacing, index, self.grid.shape, self.grid.periodic)]

    def corners(self, place):
        """Returns the points around a place, with their weights of linear interpolation."""
        exact = [(c - o) / h for c, o, h in zip(place, self.grid.origin, self.grid.spacing)]
        below = [int(np.floor(i + 1e-9)) for i in exact]
        return [(tuple((i + side) % n for i, side, n in zip(below, sides, self.grid.shape)), weight)
                for sides in itertools.product((0, 1), repeat=len(place))
                if (weight := np.prod([abs(1 - side - (e - i)) for side, e, i in zip(sides, exact, below)])) > 1e-9]

    def random_region(self):
        """Returns the first and the last point along each axis, and a stride, which keeps at least the first point."""
        stride = self.random.choice([1, 1, 2, 3])
        low = [stride * self.random.randrange((n + stride - 1) // stride) for n in self.grid.shape]
        return low, [self.random.randrange(i, n) for i, n in zip(low, self.grid.shape)], stride

    # The language: each function returns an expression of about the size of the fields.

    def axis(self):
        return self.random.choice(self.grid.axes)

    def leaf(self):
        field = self.random.choice(self.fields)
        reads = [field, f"{field}.previous", *(f"{done}.next" for done in self.done), *self.shorthands]
        offset = f"{[self.random.randint(-2, 2) for _ in self.grid.shape]}"
        return self.random.choice(reads) + (offset if self.some(0.4) else "")

    def neighbours(self, e):
        """Returns sums over neighbours, of gain 1."""
        axis, half, order = self.axis(), self.random.choice([0.5, -0.5]), self.random.choice([2, 4])
        h, squares = self.grid.spacing[self.grid.axes.index(axis)], sum(h**-2 for h in self.grid.spacing)
        flux = f"{h**2 / 4}*d({self.coefficient(axis, half)}*d({e}, {axis}, at={half}), {axis}, at={-half})"
        return self.random.choice([
            f"correlate(s, {e})", f"mean({e}, {axis}, at={half}, order={order})/1.3", f"{h / 2}*d({e}, {axis}, order={order})",
            f"{h / 2}*d({e}, {axis}, at={half})", f"{h**2 / 6}*d({e}, {axis}, 2, order={order})", f"{1 / (6 * squares)}*laplace({e}, order={order})",
            flux])

    def coefficient(self, axis, at):
        """Returns a coefficient in the middle between points."""
        return f"mean({self.random.choice(list(self.coefficients))}, {axis}, at={at})" if self.coefficients else "a"

    def factor(self):
        """Returns a factor that varies, of magnitude 1 or less."""
        axis, coefficient = self.axis(), self.random.choice([*self.coefficients, "a"])
        offset = f"{[self.random.randint(-2, 2) for _ in self.grid.shape]}" if coefficient != "a" and self.some(0.5) else ""
        return self.random.choice([
            f"{coefficient}{offset}", f"{coefficient}{offset}^2", f"sin(b*{axis} + {self.uniform(0, 1)})", f"cos({self.uniform(1, 9)}*t)", f"1/(1 + {axis}^2)",
            f"((x > {self.uniform(-1, 2)}) && (t < {self.uniform(0, 1)}))", f"((step > 1.5) || ({axis} < {self.uniform(-1, 3)}))",
            f"exp(-{coefficient}*(1 + {axis}^2))", f"(step < {self.random.randint(1, 5)} ? 0.7 : a)"])

    def nonlinear(self, e, other, field):
        return self.random.choice([
            f"sin({e})", f"{e}/(1 + ({e})^2)", f"exp(-({e})^2)", f"min(max({e}, -1), {other})", f"sin({e})*cos({other})", f"tanh({e})",
            f"sqrt(1 + ({e})^2)/3", f"abs({e})", f"({e})^2/(2 + ({e})^2)", f"({field} > 0 ? {field} : 0.5*{field})", f"atan({e})*tanh({other})"])

    def term(self, depth):
        if depth == 0:
            return self.leaf()
        e = self.term(depth - 1)
        kinds = [self.neighbours(e), self.neighbours(e)]
        if self.varies:
            kinds += [f"{self.factor()}*({e})", f"(x < {self.uniform(-1, 3)} ? {self.leaf()} : {self.leaf()})"]
        if not self.linear:
            kinds += [self.nonlinear(e, self.term(depth - 1), self.random.choice(self.fields)) for _ in range(2)]
        return self.random.choice(kinds)

    def random_step(self):
        statements, self.done, self.shorthands = [], [], []
        for field in self.random.sample(self.fields, len(self.fields)):
            if self.some(0.4):
                name = f"q{len(self.shorthands)}"
                statements.append(f"{name} = {self.term(1)}")
                self.shorthands.append(name)
            shares = [self.uniform(0.1, 1) for _ in range(self.random.randint(1, 4))]
            terms = [f"{'-' if self.some(0.3) else ''}{round(share / sum(shares), 4)}*({self.term(self.random.choice([0, 1, 1, 2]))})" for share in shares]
            if self.some(0.2):
                terms.append(f"0.05*cos({self.uniform(1, 9)}*t)" if self.some(0.5) else "0.05")
            statements.append(f"{field}.next = {' + '.join(terms)}")
            self.done.append(field)
        return "; ".join(statements)

    def model(self):
        return system_model.System(self.grid, self.walls, {**self.constants, **self.stencils, **self.coefficients}, self.initial,
                                   self.previous, self.precision)

    def random_ranks(self):
        """Returns a number of ranks, up to 4, and the setting that says how they lie."""
        fits = [grid for grid in itertools.product((1, 2, 3, 4), repeat=len(self.grid.shape))
                if 1 < np.prod(grid) <= 4 and all(g <= n for g, n in zip(grid, self.grid.shape))]
        if not fits:
            return 1, []
        ranks = self.random.choice(fits)
        return int(np.prod(ranks)), ["--set", f"parallel.ranks={list(ranks)}"]


class RandomSystems(spsolve.TestCase):
    def assert_near(self, found, exact, error, what):
        self.assertEqual(found.shape, exact.shape, what)
        self.assertLessEqual((np.abs(found - exact) - error).max(), 0, f"{what}, error bound {np.max(error):.2g}")

    def compare(self, system, out):
        model, steps = system.model(), system.steps
        snapshots, parts = spsolve.snapshots(out), {spsolve.step_of(path): path for path in out.glob("part_*.hdf")}
        rows = {row["step"]: row for row in spsolve.diagnostics(out)}
        falls = lambda name, step: step % system.every[name] == 0
        self.assertEqual(sorted(snapshots), [step for step in range(steps + 1) if falls("output", step) or step == steps])
        self.assertEqual(sorted(rows), [step for step in range(steps + 1) if falls("diagnostics", step) or step == steps])
        probes = None
        if "probes" in system.sections:
            with h5py.File(out / "probes.h5") as file:
                probes = {name: rows_of[()] for name, rows_of in file["some"].items()}
        with_name = (lambda key, name: f"{key}_{name}") if len(system.fields) > 1 else lambda key, name: key
        region = tuple(slice(low, high + 1, system.region[2]) for low, high in zip(*system.region[:2]))
        for step in range(steps + 1):
            for name, level in model.now.items():
                what = f"{name} of step {step}"
                if step in snapshots:
                    with h5py.File(snapshots[step]) as file:
                        self.assertEqual(file[name].dtype, STORED[system.precision])
                        self.assert_near(file[name][()].astype(float), level.exact, level.error, what)
                if "outputs" in system.sections and name == system.fields[-1] and (falls("outputs", step) or step == steps):
                    with h5py.File(parts[step]) as file:
                        self.assert_near(file[name][()].astype(float), level.exact[region], level.error[region], f"part of {what}")
                if probes is not None and falls("probes", step):
                    row = step // system.every["probes"]
                    self.assertEqual(probes["step"][row], step)
                    for place, found in zip(system.places, probes[name][row]):
                        exact, error = (sum(weight * values[point] for point, weight in system.corners(place)) for values in (level.exact, level.error))
                        error += (16 * UNIT[system.precision] + 8 * UNIT["fp64"] * max(4, *level.exact.shape)) * np.abs(level.exact).max()
                        self.assertLessEqual(abs(found - exact), error, f"probe of {what}")
                if step in rows:
                    before = model.before[name] if step else level
                    for key, (exact, error) in numpy_model.statistics(level.exact, before.exact, level.error.max(), before.error.max()).items():
                        self.assertLessEqual(abs(rows[step][with_name(key, name)] - exact), error, f"{key} of {what}")
            if step in rows:
                total = model.value(system.sum)
                error = np.sum(total.error + UNIT["fp64"] * total.exact.size * total.terms.size)
                self.assertLessEqual(abs(rows[step]["total"] - total.exact.sum()), error, f"sum of step {step}")
            largest = max(np.abs(level.exact).max() for level in model.now.values())
            self.assertLess(largest, 1e3)
            self.assertLess(max(level.error.max() for level in model.now.values()), {"fp64": 1e-9, "fp32": 0.2}[system.precision] * max(largest, 1.0))
            if step < steps:
                model.advance(system.text, system.sources)

    def check(self, seed):
        directory = self.directory / str(seed)
        directory.mkdir()
        system = RandomSystem(seed, directory)
        run = lambda out, ranks, *options: self.run_to(0, system.file, "--quiet", "--output", directory / out, *options, ranks=ranks)
        try:
            run("one", None)
            self.compare(system, directory / "one")
            ranks, grid = system.random_ranks()
            for depth in (system.random.choice([2, 3, 4]), "auto"):
                deeper = spsolve.run(system.file, "--quiet", "--output", directory / "several", *grid, "--set", f"time.fuse={depth!r}", ranks=ranks)
                if "no method advances these equations" not in deeper.err:
                    break
            self.finished(deeper)
            self.assert_same_files(directory / "one", directory / "several")
            checkpoints = spsolve.checkpoints(directory / "one")
            if checkpoints:
                shutil.copytree(directory / "one", directory / "again")
                checkpoint = directory / "again" / checkpoints[system.random.choice(list(checkpoints))].name
                run("again", system.random_ranks()[0], "--restart", checkpoint)
                self.assert_same_files(directory / "one", directory / "again")
        except Exception as failure:
            raise AssertionError(f"{failure}\nseed {seed}\n{system.file.read_text()}") from failure


for seed in range(FIRST, FIRST + CASES):
    setattr(RandomSystems, f"test_{seed:04}", lambda self, seed=seed: self.check(seed))

if __name__ == "__main__":
    unittest.main()
