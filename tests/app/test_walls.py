# SPDX-License-Identifier: Apache-2.0
"""Walls of every condition, with values by numbers, formulas of place and time, and datasets, compared with the numpy padding of
wall_model.py, on random grids, stencils and equations."""
import itertools
import json
import os
import random
import unittest

import h5py
import numpy as np

import spsolve
import wall_model

STEPS, DT = 4, 0.25


class Case:
    """Makes a random problem: the text of the input and, in model(), the final fields of the numpy model."""

    def __init__(self, seed, directory):
        self.random, self.numbers = random.Random(seed), np.random.default_rng(seed)
        d = self.random.choice([1, 2, 2, 3])
        self.radius = self.random.choice([1, 2, 2])
        self.grid = wall_model.Grid([self.random.randint({1: 5, 2: 4, 3: 3}[d], {1: 40, 2: 14, 3: 8}[d]) for _ in range(d)],
                                    [self.random.choice([0.5, 1.0, 0.75]) for _ in range(d)],
                                    [self.random.choice([0.0, -1.5, 2.0]) for _ in range(d)],
                                    [self.random.random() < 0.25 and axis > 0 for axis in range(d)], DT)
        self.walls = [[self.grid.random_wall(axis, self.random, self.numbers, directory / "faces.h5") for _ in range(2)] for axis in range(d)]
        self.weights = self.numbers.uniform(-0.3, 0.3, [2 * self.radius + 1] * d)
        self.kind = self.random.choice(["stencil", "source", "two levels", "next"])

    def text(self):
        grid = self.grid
        boundary = {name: "periodic" if periodic else {"low": low.key, "high": high.key}
                    for name, periodic, (low, high) in zip(grid.axes, grid.periodic, self.walls)}
        start = "sin(0.7*x)" + "".join(f" + {share}*{name}" for share, name in ((0.1, "y"), (-0.2, "z")) if name in grid.axes)
        self.start = start
        text = (f"[grid]\nshape = {grid.shape}\nspacing = {grid.spacing}\norigin = {grid.origin}\n[boundary]\n" +
                "".join(f"{name} = {spsolve.toml(walls)}\n" for name, walls in boundary.items()) +
                f'[time]\nsteps = {STEPS}\ndt = {DT}\n[output]\ndirectory = "out"\n')
        weights = f"weights = {self.weights.tolist()}\n"
        if self.kind in ("stencil", "source"):
            text += f'[stencil]\n{weights}[initial]\nexpression = "{start}"\n'
            return text + ('[source]\nexpression = "0.01*x*sin(t + step)"\n' if self.kind == "source" else "")
        offset = ", ".join(["0"] * (len(grid.shape) - 1) + ["1"])
        statements = {"two levels": f"u.next = correlate(w, u) - 0.3*u.previous[{offset}] + 0.1*v; v.next = 0.9*v + 0.1*u*u",
                      "next": "u.next = correlate(w, u) + 0.1*v; v.next = 0.9*v + 0.1*correlate(w, u.next)"}[self.kind]
        return (text + f'[stencils.w]\n{weights}[fields.u]\ninitial = "{start}"\n[fields.v]\ninitial = 0.5\n' +
                f'[equations]\nstep = "{statements}"\n')

    def pad(self, u, step):
        return self.grid.pad(u, self.walls, self.radius, step)

    def correlate(self, padded):
        return sum(self.weights[k] * padded[tuple(slice(i, i + n) for i, n in zip(k, self.grid.shape))]
                   for k in itertools.product(*map(range, self.weights.shape)))

    def model(self):
        points, shape = self.grid.points(), self.grid.shape
        u = previous = eval(self.start, {"sin": np.sin, **points})
        v = np.full(shape, 0.5)
        shifted = tuple([slice(self.radius, self.radius + n) for n in shape[:-1]] +
                        [slice(self.radius + 1, self.radius + 1 + shape[-1])])
        for n in range(STEPS):
            after = self.correlate(self.pad(u, n))
            if self.kind == "source":
                after = after + 0.01 * points["x"] * np.sin(n * DT + n)
            elif self.kind == "two levels":
                after = after - 0.3 * self.pad(previous, n - 1)[shifted] + 0.1 * v
                v = 0.9 * v + 0.1 * u * u
            elif self.kind == "next":
                after = after + 0.1 * v
                v = 0.9 * v + 0.1 * self.correlate(self.pad(after, n + 1))
            previous, u = u, after
        return {"u": u, "v": v} if self.kind in ("two levels", "next") else {"u": u}


class Walls(spsolve.TestCase):
    def fields(self, directory):
        with h5py.File(spsolve.snapshots(self.directory / directory)[STEPS]) as file:
            return {name: file[name][()] for name in file if name not in ("VTKHDF", *"zyx")}

    def test_random_problems(self):
        for seed in range(int(os.environ.get("SPSOLVE_RANDOM_CASES", "40"))):
            (self.directory / "faces.h5").unlink(missing_ok=True)
            case = Case(seed, self.directory)
            (self.directory / "case.toml").write_text(case.text())
            ranks = case.random.choice([2, 3, 4])
            with self.subTest(seed=seed, text=case.text()):
                self.run_to(0, "case.toml", "--output", "alone", "--overwrite")
                found, expected = self.fields("alone"), case.model()
                self.assertEqual(set(found), set(expected))
                for name, values in expected.items():
                    # A step takes a few hundred operations on numbers of this size, and the steps may add up
                    # their errors.
                    size = max(1.0, np.abs(values).max())
                    np.testing.assert_allclose(found[name], values, rtol=0, atol=400 * STEPS * np.finfo(float).eps * size)
                if np.prod(case.grid.shape) >= ranks and max(case.grid.shape) >= ranks:
                    result = spsolve.run("case.toml", "--output", "ranks", "--overwrite", ranks=ranks, cwd=self.directory)
                    self.finished(result)
                    for name, values in self.fields("ranks").items():
                        np.testing.assert_array_equal(values, found[name])

    def test_restarts_go_on_in_time(self):
        text = """
            [grid]
            shape = [20, 30]
            [boundary]
            y = { low = { flux = 2.0 }, high = { robin = { h = 3.0, value = "15 + x" } } }
            x = { low = { dirichlet = "20 + 5*sin(t)" }, high = { value = "y*step" } }
            [stencil]
            preset = "heat"
            diffusivity = 0.2
            dt = 1.0
            [initial]
            expression = "0"
            [time]
            steps = 9
            [checkpoint]
            every = 4
            """
        (self.directory / "case.toml").write_text(text)
        self.run_to(0, "case.toml", "--output", "whole")
        self.run_to(0, "case.toml", "--output", "again", "--restart", "whole/checkpoint_0000000004.h5", ranks=2)
        last = "snapshot_0000000009.hdf"
        self.assertEqual((self.directory / "again" / last).read_bytes(), (self.directory / "whole" / last).read_bytes())
        refused = self.run_to(2, "case.toml", "--output", "other", "--restart", "whole/checkpoint_0000000004.h5",
                              *spsolve.settings("boundary.y.low={flux=3.0}"))
        self.assertIn("differ(s) from the input", refused.err)

    def test_steady_states_converge_with_the_second_order(self):
        # The solution of u'' = -pi^2 sin(pi x) on [0, 1] with u(0) = 0, and the outward derivative 2 (v - u)
        # at 1, is u = sin(pi x) + a x.
        v = 1.0
        a = (2 * v + np.pi) / 3
        errors = []
        for n in (16, 32, 64):
            h = 1 / n
            spsolve.write_input(self.directory / "case.toml", {
                "grid": {"shape": [n], "spacing": [h], "origin": [h / 2]},
                "boundary": {"x": {"low": {"value": 0.0}, "high": {"robin": {"h": 2.0, "value": v}}}},
                "stencil": {"preset": "heat", "diffusivity": 1.0, "dt": 0.4 * h * h},
                "initial": {"expression": "0"},
                "source": {"expression": f"{0.4 * h * h} * pi^2 * sin(pi*x)"},
                "time": {"steps": 200 * n * n, "until_change": 1e-13},
                "diagnostics": {"every": 200},
                "output": {"directory": f"out{n}"}})
            self.run_to(0, "case.toml")
            x = h / 2 + h * np.arange(n)
            found = spsolve.values(list(spsolve.snapshots(self.directory / f"out{n}").values())[-1])
            errors.append(np.abs(found - np.sin(np.pi * x) - a * x).max())
        for coarse, fine in itertools.pairwise(errors):
            self.assertAlmostEqual(np.log2(coarse / fine), 2.0, delta=0.1)

    def test_errors_name_the_face(self):
        spsolve.write_input(self.directory / "case.toml", {
            "grid": {"shape": [4, 5]}, "boundary": {"x": "neumann"}, "stencil": {"preset": "star2d1r"},
            "initial": {"expression": "1"}, "time": {"steps": 1}})
        with h5py.File(self.directory / "faces.h5", "w") as file:
            file["three"] = np.zeros(3)
        for change, message in (("boundary.x={value='x'}", "found the unknown name 'x'; wanted one of pi, y, t, dt, step"),
                                ("boundary.x={flux='q*y'}", "found the unknown name 'q'"),
                                ("boundary.x={robin={h=-1, value=2}}", "[boundary.x.robin] 'h' must be at least 0, not -1"),
                                ("boundary.x={robin={h=1}}", "[boundary.x.robin] missing key 'value'"),
                                ("boundary.x={flux=1, value=2}", "'value' and 'flux' contradict each other"),
                                ("boundary.x={flux={file='faces.h5', dataset='/three'}}",
                                 "dataset /three has 3 x 1 values; wanted 4 x 1, those of the face"),
                                ("boundary.x={flux={file='none.h5', dataset='/three'}}", "none.h5: No such file")):
            with self.subTest(change):
                self.assertIn(message, self.run_to(2, "check", "case.toml", *spsolve.settings(change)).err)


class ImageCase(Case):
    """Makes a random [stencil] whose walls have images: weights that are the same on both sides and sum to 1 (or to less if all
    walls have the value 0), and one value for all walls, or two values on one axis."""

    def __init__(self, seed, directory):
        super().__init__(seed, directory)
        self.kind = "stencil"
        self.grid.shape = [n + 4 * self.radius for n in self.grid.shape]
        values = self.random.choice([[0.0], [0.7], [-0.3, 0.8]])
        with_values = self.random.randrange(len(self.walls)) if len(values) > 1 else None
        self.walls = [[self.plain_wall(values if with_values in (None, axis) else []) for _ in range(2)] for axis in range(len(self.walls))]
        weights = np.abs(self.weights)
        for axis in range(weights.ndim):
            weights = weights + np.flip(weights, axis)
        self.weights = weights / weights.sum() * (0.8 if values == [0.0] else 1.0)

    def plain_wall(self, values):
        condition = self.random.choice((["value", "value"] if values else []) + (["dirichlet"] if values and self.radius == 1 else [])
                                       + ["neumann", "flux"])
        value = self.random.choice(values) if condition in ("value", "dirichlet") else 0.0
        return wall_model.Wall(condition, lambda coordinates, step: value, condition if condition == "neumann" else {condition: value})


class Images(spsolve.TestCase):
    def values(self, directory, step=STEPS):
        return spsolve.values(spsolve.snapshots(self.directory / directory)[step])

    def bound(self, directory, case, precision):
        """Returns how far a run and its model may be apart, in the L2 norm: by the errors that the plan allows, by the rounding of
        initial values, and by that of the model. No step enlarges the largest value, and no wall has more than 0.8."""
        plan = json.loads((self.directory / directory / "run.json").read_text())["plan"]
        start = self.values(directory, 0)
        of_model = case.weights.size * np.finfo(float).eps
        relative = STEPS * (plan["error_bound_per_step"] + of_model) + np.finfo({"fp64": float, "fp32": np.float32}[precision]).eps / 2
        return relative * (np.abs(start).max() + 0.8) * np.sqrt(start.size)

    def test_tensor_units_take_fused_steps_up_to_walls_of_constant_values(self):
        taken = 0
        for seed in range(16):
            case = ImageCase(seed, self.directory)
            (self.directory / "case.toml").write_text(case.text())
            expected = case.model()["u"]
            fuse = case.random.choice([1, 2, 3])
            unit, precision = case.random.choice([("tensor", "fp64"), ("sparse-tensor", "fp32")])
            if case.weights.size == 125:  # sums this long err by more than fp32 promises
                unit, precision = "tensor", "fp64"
            options = ("--overwrite", *spsolve.settings(f"compute.unit='{unit}'", f"compute.precision='{precision}'", f"time.fuse={fuse}", f"output.every={STEPS}"))
            with self.subTest(seed=seed, fuse=fuse, unit=unit, text=case.text()):
                said = self.run_to(0, "case.toml", "--output", "alone", *options).out
                self.assertRegex(said, rf"(?<!sparse-){unit} .*, {fuse} steps? per launch")
                self.assertLess(np.linalg.norm(self.values("alone") - expected), self.bound("alone", case, precision))
                self.finished(spsolve.run("case.toml", "--output", "ranks", *options, ranks=2, cwd=self.directory))
                np.testing.assert_array_equal(self.values("ranks"), self.values("alone"))
            taken += any(wall.condition == "value" for periodic, walls in zip(case.grid.periodic, case.walls) if not periodic for wall in walls)
        self.assertGreater(taken, 8)

    def input(self, **walls):
        spsolve.write_input(self.directory / "case.toml", {
            "grid": {"shape": [60]}, "boundary": {"x": {"low": {"value": 0.5}, "high": "neumann", **walls}},
            "stencil": {"preset": "heat", "diffusivity": 0.3, "dt": 1.0}, "initial": {"expression": "sin(x)"},
            "time": {"steps": 24}, "checkpoint": {"every": 12}})

    def test_reasons_why_walls_have_no_images(self):
        self.input()
        for change, fuse, message in (
                ("stencil={weights=[0.2, 0.5, 0.3]}", 2, "fused weights are not exact beside the walls of x"),
                ("stencil={weights=[0.2, 0.5, 0.2]}", 2, "fused weights are not exact beside the walls of x"),
                ("boundary.x.low={value='0.5*t'}", 2, "a wall has a flux, a Robin condition, or a value that varies"),
                ("boundary.x.low={flux=0.5}", 1, "a wall has a flux, a Robin condition, or a value that varies"),
                ("source={expression='0.1*t'}", 2, "it has terms without fields")):
            with self.subTest(change):
                said = self.run_to(2, "check", "case.toml", *spsolve.settings("compute.unit='tensor'", f"time.fuse={fuse}", change)).err
                self.assertIn(message, said)
        self.run_to(0, "check", "case.toml",
                    *spsolve.settings("compute.unit='tensor'", "time.fuse=1", "stencil={weights=[0.2, 0.5, 0.3]}"))

    def test_plans_for_gpus_weigh_tensor_cores(self):
        self.input()
        plan = lambda *settings: self.run_to(0, "plan", "case.toml", "--device-model", spsolve.SOURCE / "inputs" / "devices" / "h200.toml",
                                             *spsolve.settings("compute.device=cuda", *settings)).out
        said = plan("grid.shape=[9000000]")
        self.assertRegex(said, r"fp64 +tensor +natural-order")
        self.assertIn("walls across x: fused weights hold up to them", said)
        self.assertIn("fused weights do not take these equations: a wall has a flux", plan("boundary.x.low={flux=0.5}"))

    def test_no_flux_is_neumann(self):
        last = "snapshot_0000000024.hdf"
        for name, low in (("neumann", "neumann"), ("flux", {"flux": 0.0}), ("formula", {"flux": "0*2"})):
            self.input(low=low)
            said = self.run_to(0, "check", "case.toml").out
            self.assertIn("growth factor per step", said)  # as stencils have it
            self.run_to(0, "case.toml", "--output", name)
            self.assertEqual((self.directory / name / last).read_bytes(), (self.directory / "neumann" / last).read_bytes())

    def test_restarts_and_growth(self):
        self.input()
        options = spsolve.settings("compute.unit='tensor'", "time.fuse=4")
        self.run_to(0, "case.toml", "--output", "whole", *options)
        self.run_to(0, "case.toml", "--output", "again", "--restart", "whole/checkpoint_0000000012.h5", *options, ranks=2)
        last = "snapshot_0000000024.hdf"
        self.assertEqual((self.directory / "again" / last).read_bytes(), (self.directory / "whole" / last).read_bytes())
        # Modes between a value and a neumann wall are odd about one face and even about the other.
        slowest = 1 - 2 * 0.3 * (1 - np.cos(np.pi / 2 / 60))
        self.assertIn(f"spectral radius of a step: {slowest:.12g}", self.run_to(0, "check", "case.toml").out)


class Memory(spsolve.TestCase):
    def test_datasets_of_walls_are_counted(self):
        with h5py.File(self.directory / "face.h5", "w") as file:
            file["c"] = np.zeros((1200, 1000), np.float32)  # a rank holds 8 bytes for each value: 9.2 MiB
        (self.directory / "case.toml").write_text("""
            [grid]
            shape = [4, 1200, 1000]
            [boundary]
            z = { low = { value = { file = "face.h5", dataset = "c" } }, high = "neumann" }
            [stencil]
            preset = "heat"
            diffusivity = 0.1
            dt = 1.0
            [initial]
            expression = "0"
            [time]
            steps = 1
            """)
        said = self.run_to(0, "check", "case.toml").out
        self.assertIn(f"{1200 * 1000 * 8 / 2**20:.1f} MiB of host memory for values of walls", said)


class Tuning(spsolve.TestCase):
    """The numbers of walls, and probes, decide which methods exist, so that a tuned plan holds for these alone."""
    def write(self, wall, sections):
        return spsolve.write_input(self.directory / "case.toml", {
            "grid": {"shape": [60]}, "boundary": {"x": {"low": wall, "high": wall}}, "time": {"steps": 24}, "output": {"directory": "out"},
            **sections, "compute": {"device": "cpu", "tune": True, **sections.get("compute", {})}})

    def run_tuned(self, file, ranks=None):
        said = self.run_to(0, file, "--overwrite", ranks=ranks, environment={"XDG_CACHE_HOME": str(self.directory / "cache")})
        return said, json.loads((self.directory / "out" / "run.json").read_text())["plan"]

    def remember(self, part):
        """Replaces a part of the only plan that is remembered."""
        (file,) = (self.directory / "cache" / "spsolve").glob("tuned-*.json")
        file.write_text(json.dumps(json.loads(file.read_text()) | part))

    def check(self, fused, first, other):
        """`fused` is a part of a plan that exists for the input `first` and not for `other`."""
        self.run_tuned(self.write(*first))
        self.remember(fused)  # timings may choose any plan
        said, plan = self.run_tuned(self.write(*first))
        self.assertIn("tuned before", said.out)
        self.assertEqual(fused, {key: plan[key] for key in fused})
        said, plan = self.run_tuned(self.write(*other))
        self.assertNotIn("tuned before", said.out)
        self.assertNotEqual(fused, {key: plan[key] for key in fused})

    def test_plans_are_remembered_for_values_of_walls(self):
        heat = {"stencil": {"weights": [0.2, 0.4, 0.2]}, "initial": {"expression": "sin(x)"}, "compute": {"unit": "tensor"}}
        self.check({"unit": "tensor", "fuse": 4}, ({"value": 0}, heat), ({"value": 0.5}, heat))

    def test_plans_are_remembered_for_points(self):
        wave = {"equations": {"step": "u.next = 2*u - u.previous + 0.2*laplace(u)"}, "fields.u": {"initial": "sin(x)"}}
        probes = {"probes": [{"name": "p", "at": [[30.0]], "every": 1}]}
        layout = "natural-order" if spsolve.ON_GPU else "dual-tessellation"
        stride = {"unit": "tensor", "layout": layout, "fuse": 4, "strided": True}
        self.check(stride, ("neumann", wave), ("neumann", {**wave, **probes}))
        self.remember({"fuse": 4000})
        for ranks in (None, 2):
            said, plan = self.run_tuned(self.write("neumann", wave), ranks)
            self.assertIn("the tuned plan is left out: ", said.err)
            self.assertEqual(plan["unit"], "scalar")


class FormerRuns(spsolve.TestCase):
    def test_checkpoints_of_no_flux_as_equations_continue(self):
        """Former versions filled ghost points beyond walls without a flux: they stored the checksum of equations."""
        last = "snapshot_0000000024.hdf"
        file = spsolve.write_input(self.directory / "case.toml", {
            "grid": {"shape": [60]}, "boundary": {"x": {"low": {"flux": 0.0}, "high": "neumann"}},
            "stencil": {"preset": "heat", "diffusivity": 0.3, "dt": 1.0}, "initial": {"expression": "sin(x)"},
            "time": {"steps": 24}, "checkpoint": {"every": 12}})
        self.run_to(0, file, "--output", "whole", "--set", "time.fuse=1")  # which the former plan was
        with h5py.File(self.directory / "whole" / "checkpoint_0000000012.h5", "r+") as checkpoint:
            former = {"weights_checksum": "311dcb2685ef0c92",
                      "plan": '{"device":"cpu","unit":"scalar","layout":"none","fuse":1,"precision":"fp64","dropped":0.0,"strided":false,"error_bound_per_step":0.0}'}
            self.assertNotEqual(checkpoint.attrs["weights_checksum"].decode(), former["weights_checksum"])
            for name, value in former.items():
                checkpoint.attrs[name] = np.bytes_(value)
            del checkpoint["u"].attrs["header_checksum"]
        for ranks in (None, 2):
            with self.subTest(ranks=ranks):
                self.run_to(0, file, "--output", "again", "--overwrite", "--restart", "whole/checkpoint_0000000012.h5", ranks=ranks)
                self.assertEqual((self.directory / "again" / last).read_bytes(), (self.directory / "whole" / last).read_bytes())
                for change, named in (("stencil.diffusivity=0.2", "the weights of"), ("boundary.x.low={flux=0.5}", "boundary")):
                    said = self.run_to(2, file, "--output", "other", "--restart", "whole/checkpoint_0000000012.h5", "--set", change, ranks=ranks).err
                    self.assertRegex(said, f"another problem: .*{named}")


if __name__ == "__main__":
    unittest.main()
