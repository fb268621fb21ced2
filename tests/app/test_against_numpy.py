# SPDX-License-Identifier: Apache-2.0
"""Random problems: every snapshot and every row of the diagnostics against numpy, the same bits from one rank and from
several, and a plan for a GPU. SPSOLVE_RANDOM_CASES=n runs n of them instead of 40."""
import itertools
import os
import unittest

import h5py
import numpy as np

import numpy_model
import spsolve

CASES = int(os.environ.get("SPSOLVE_RANDOM_CASES", "40"))
DOUBLE = 2**-53
GPU = spsolve.SOURCE / "inputs" / "devices" / "h200.toml"
LENGTHS = {1: [1, 2, 3, 7, 19, 64, 101, 257, 1009], 2: [1, 2, 3, 5, 13, 31, 37, 64, 71], 3: [1, 2, 3, 4, 7, 11, 16, 19]}
AXES = {1: "x", 2: "yx", 3: "zyx"}


def rank_grids(ranks, shape):
    return [grid for grid in itertools.product(range(1, ranks + 1), repeat=len(shape))
            if np.prod(grid) == ranks and all(g <= n for g, n in zip(grid, shape))]


class RandomProblem:
    """Holds a problem as arrays of double, and as the equivalent input file."""

    def __init__(self, seed, directory):
        self.random = np.random.default_rng(seed)
        self.directory = directory
        self.axes = AXES[self.choose([1, 2, 3])]
        self.shape = [int(self.choose(LENGTHS[len(self.axes)])) for _ in self.axes]
        self.spacing = self.random.uniform(0.1, 2.0, len(self.axes)).tolist()
        self.origin = self.random.uniform(-1.0, 1.0, len(self.axes)).tolist()
        self.precision = self.choose(["fp64", "fp64", "fp64", "fp32", "fp16", "bf16", "tf32"])
        self.stored_in = self.choose(["fp64", "fp32"])
        self.faces = [self.random_faces() for _ in self.axes]
        self.steps = int(self.random.integers(0, 14))
        self.stride = int(self.choose([1, 1, 1, 2, 3]))
        self.every = {key: int(self.choose([0, 1, 3, 5])) for key in ("output", "diagnostics", "checkpoint")}
        ranks = [n for n in range(2, 9) if rank_grids(n, self.shape)]
        self.ranks = int(self.choose(ranks)) if ranks else 1
        self.expression_error = 0.0
        self.sections = {
            "grid": {"shape": self.shape, "spacing": self.spacing, "origin": self.origin},
            "boundary": {axis: self.face_toml(*faces) for axis, faces in zip(self.axes, self.faces)},
            "stencil": self.random_stencil(),
            "initial": {},
            "time": {"steps": self.steps, "fuse": self.choose(["auto", 1, 2, 3, 4, 6])},
            "compute": {"precision": self.precision, "device": "cpu"},
            "output": {"directory": "out", "every": self.every["output"], "precision": self.stored_in, "stride": self.stride},
            "diagnostics": {"every": self.every["diagnostics"]},
            "checkpoint": {"every": self.every["checkpoint"], "keep": 3},
        }
        self.initial, self.sections["initial"] = self.random_field("initial", 1.0)
        self.source = np.zeros(self.shape)
        if self.random.random() < 0.5:
            self.source, self.sections["source"] = self.random_field("source", 0.1)
        # The two runs must differ in nothing but the number of ranks, so it is given on the command line.
        self.rank_grid = []
        if self.ranks > 1 and self.random.random() < 0.3:
            grid = [int(n) for n in self.choose(rank_grids(self.ranks, self.shape))]
            self.rank_grid = ["--set", f"parallel.ranks={grid}"]
        self.file = spsolve.write_input(directory / "problem.toml", self.sections)

    def choose(self, items):
        return items[self.random.integers(len(items))]

    def random_faces(self):
        if self.random.random() < 0.35:
            return ("periodic", "periodic")
        return tuple(self.choose(["neumann", round(self.random.uniform(-1, 1), 3)]) for _ in range(2))

    def face_toml(self, low, high):
        one = lambda face: face if isinstance(face, str) else {"dirichlet": face}
        return one(low) if low == high and self.random.random() < 0.5 else {"low": one(low), "high": one(high)} \
            if low != "periodic" else "periodic"

    def random_stencil(self):
        most = {1: 9, 2: 5, 3: 4}[len(self.axes)]
        extent = [int(self.random.integers(1, most + 1)) for _ in self.axes]
        self.weights = self.random.normal(size=extent)
        self.weights[self.random.random(extent) < 0.3] = 0.0
        self.weights.flat[self.random.integers(self.weights.size)] = 1.0  # never all zero
        self.weights /= np.abs(self.weights).sum() / self.random.uniform(0.8, 1.02)
        self.center = [int(self.random.integers(n)) for n in extent]
        given = self.random.random() < 0.7
        if not given:
            self.center = [n // 2 for n in extent]
        if self.random.random() < 0.5:
            return {"weights": self.weights.tolist(), **({"center": self.center} if given else {})}
        with h5py.File(self.directory / "weights.h5", "w") as file:
            file["some/weights"] = self.weights
            if given:
                file["some/weights"].attrs["center"] = np.array(self.center)
        return {"file": "weights.h5", "dataset": "/some/weights"}

    def random_field(self, name, size):
        """Returns values of magnitude `size` or less, and the keys that set them."""
        if self.random.random() < 0.4:
            # Products and sums only: numpy and spsolve agree to within a rounding per operation.
            slopes = (size * self.random.uniform(-1, 1, len(self.axes)) / len(self.axes)).tolist()
            points = np.meshgrid(*[o + h * np.arange(n) for o, h, n in zip(self.origin, self.spacing, self.shape)], indexing="ij")
            terms = [slope * point / (1 + point * point) for slope, point in zip(slopes, points)]
            self.expression_error += 12 * DOUBLE * size
            return sum(terms), {"expression": " + ".join(f"({s!r}) * {a} / (1 + {a} * {a})" for s, a in zip(slopes, self.axes))}
        values = size * self.random.uniform(-1, 1, self.shape)
        kind = self.choose(["f8", "f4", "i2"])
        values = np.rint(values).astype(kind) if kind == "i2" else values.astype(kind)
        with h5py.File(self.directory / f"{name}.h5", "w") as file:
            file[name] = values
        return values.astype(float), {"file": f"{name}.h5", "dataset": name}

    def walls(self):
        return [face for faces in self.faces for face in faces if not isinstance(face, str)]

    def __str__(self):
        return f"ranks {self.ranks} {self.rank_grid}\n{self.file.read_text()}"


class AgainstNumpy(spsolve.TestCase):
    def solve(self, problem, name, ranks):
        directory = self.directory / name
        directory.mkdir()
        options = problem.rank_grid if ranks == problem.ranks else []
        self.finished(spsolve.run(problem.file, "--quiet", *options, ranks=ranks if ranks > 1 else None, cwd=directory))
        return directory / "out"

    def check_snapshots_and_diagnostics(self, problem, out):
        found = spsolve.snapshots(out)
        every, rows_every = problem.every["output"], problem.every["diagnostics"]
        wanted = {problem.steps, *(range(0, problem.steps, every) if every else [])}
        self.assertEqual(set(found), wanted)
        rows = {row["step"]: row for row in spsolve.diagnostics(out)}
        self.assertEqual(set(rows), {0, problem.steps, *(range(0, problem.steps, rows_every) if rows_every else [])})

        u, before = problem.initial, problem.initial
        bounds = [numpy_model.Bound(precision, problem.weights, problem.source, problem.walls(), u, problem.expression_error)
                  for precision in (problem.precision, "fp64")]  # the program's, and that of the model itself
        before_error = 0.0
        output = numpy_model.ROUNDING[problem.stored_in]
        for step in range(problem.steps + 1):
            error = sum(bound.error for bound in bounds)
            if step in found:
                values = spsolve.values(found[step])
                self.assertEqual(values.dtype, {"fp32": np.float32, "fp64": np.float64}[problem.stored_in])
                exact = u[(slice(None, None, problem.stride),) * u.ndim]
                self.assertEqual(values.shape, exact.shape)
                tolerance = error + output.stored * (np.abs(u).max() + error) + output.least
                self.assertLessEqual(np.abs(values - exact).max(), tolerance, f"snapshot of step {step}")
            if step in rows:
                for key, (exact, tolerance) in numpy_model.statistics(u, before, error, before_error).items():
                    self.assertLessEqual(abs(rows[step][key] - exact), tolerance, f"{key} of step {step}")
            if step == problem.steps:
                break
            before, before_error = u, error
            u = numpy_model.step(u, problem.weights, problem.center, problem.faces, problem.source)
            for bound in bounds:
                bound.step(u)

    def check(self, seed):
        directory = self.directory / str(seed)
        directory.mkdir()
        problem = RandomProblem(seed, directory)
        try:
            one = self.solve(problem, f"{seed}/one", 1)
            self.check_snapshots_and_diagnostics(problem, one)
            self.assert_same_files(one, self.solve(problem, f"{seed}/several", problem.ranks))
            self.finished(spsolve.run("plan", problem.file, "--device-model", GPU, "--set", "compute.device=cuda"))
        except AssertionError as failure:
            raise AssertionError(f"{failure}\nseed {seed}, {problem}") from None


for seed in range(CASES):
    setattr(AgainstNumpy, f"test_{seed:04}", lambda self, seed=seed: self.check(seed))

if __name__ == "__main__":
    unittest.main()
