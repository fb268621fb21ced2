# SPDX-License-Identifier: Apache-2.0
"""What stands around the equations of an input: point sources, probes, streams of snapshots, sums, and the end of a run that has
become steady. Results are compared with a numpy model written here, between numbers of ranks, and through a restart."""
import os
import pathlib
import shutil
import signal
import unittest

import h5py
import numpy as np

import spsolve

SHAPE, SPACING, ORIGIN, DT, STEPS = (41, 53), 10.0, (-5.0, 3.0), 1e-3, 60
INPUT = """
name = "case"
[grid]
shape   = [41, 53]
spacing = [10.0, 10.0]
origin  = [-5.0, 3.0]
[boundary]
y = "neumann"
x = "periodic"
[constants]
f0 = 15.0
[coefficients]
c = "1500 + y"
[fields.p]
[fields.q]
[equations]
step = '''
  p.next = 2*p - p.previous + (c*dt)^2 * laplace(p, order=4)
  q.next = 0.9*q + 0.1*p
'''
[[point_sources]]
field = "p"
at    = [100.0, 123.4]
value = "(c*dt)^2 * ricker(t - 0.05, f0) * 1e-2"
[[point_sources]]
field = "p"
at    = [[395.0, 530.5], [20, 520]]
value = { file = "signals.h5", dataset = "/two" }
[[point_sources]]
field = "q"
at    = { file = "signals.h5", dataset = "/places" }
value = 1.0
interpolation = "nearest"
[[probes]]
name = "all"
at   = [[100.0, 123.4], [395, 531.5], [-5, 3]]
[[probes]]
name   = "few"
fields = ["q"]
at     = [206.0, 206.0]
every  = 7
[time]
dt    = 1.0e-3
steps = 60
[output]
directory = "out"
every = 60
[checkpoint]
every = 25
[diagnostics]
every = 20
sums  = { energy = "0.5*p^2*c", total = "q + x + t" }
"""


def corners(point):
    """Returns the grid points around a point, with their weights."""
    f = [np.clip((point[0] - ORIGIN[0]) / SPACING, 0, SHAPE[0] - 1), (point[1] - ORIGIN[1]) / SPACING]
    below = [int(np.floor(value)) for value in f]
    share = [value - index for value, index in zip(f, below)]
    return [(below[0] + i, (below[1] + j) % SHAPE[1], (share[0] if i else 1 - share[0]) * (share[1] if j else 1 - share[1]))
            for i in (0, 1) for j in (0, 1) if (share[0] if i else 1 - share[0]) * (share[1] if j else 1 - share[1]) != 0]


def at(field, point):
    return sum(weight * field[i, j] for i, j, weight in corners(point))


def laplace(u):
    padded = np.pad(np.pad(u, ((0, 0), (2, 2)), "wrap"), ((2, 2), (0, 0)), "symmetric")
    view = lambda i, j: padded[2 + i:2 + i + SHAPE[0], 2 + j:2 + j + SHAPE[1]]
    weights = {0: -5 / 2, 1: 4 / 3, 2: -1 / 12}
    return sum(weight * (view(k, 0) + view(0, k)) for d, weight in weights.items() for k in {d, -d}) / SPACING**2


def model(signals):
    """Returns the fields after every step: [steps + 1, y, x] of p and of q."""
    y = ORIGIN[0] + SPACING * np.arange(SHAPE[0])
    c = np.broadcast_to((1500 + y)[:, None], SHAPE)
    p = previous = q = np.zeros(SHAPE)
    levels = [(p, q)]
    for n in range(STEPS):
        after = 2 * p - previous + (c * DT)**2 * laplace(p)
        q = 0.9 * q + 0.1 * p
        a = (np.pi * 15 * (n * DT - 0.05))**2
        point = (100.0, 123.4)
        for i, j, weight in corners(point):
            after[i, j] += weight * (at(c, point) * DT)**2 * (1 - 2 * a) * np.exp(-a) * 1e-2
        for k, point in enumerate(((395, 530.5), (20, 520))):
            for i, j, weight in corners(point):
                after[i, j] += weight * signals[n, k]
        q[21, 20] += 1
        previous, p = p, after
        levels.append((p, q))
    return np.array(levels).transpose(1, 0, 2, 3)


class AroundEquations(spsolve.TestCase):
    def setUp(self):
        super().setUp()
        self.signals = np.random.default_rng(1).uniform(-1, 1, (STEPS, 2))
        with h5py.File(self.directory / "signals.h5", "w") as file:
            file["two"] = self.signals
            file["places"] = np.array([[206.0, 206.0]])
        self.input = self.directory / "case.toml"
        self.input.write_text(INPUT)

    def check_text(self, *changes):
        return self.run_to(2, "check", self.input, *spsolve.settings(*changes)).err

    def test_results_are_those_of_the_model(self):
        self.run_to(0, self.input)
        p, q = model(self.signals)
        # Every step rounds about 30 operations on values of this size, and the recurrence adds up the errors
        # of all steps.
        tolerance = 30 * STEPS**2 * np.finfo(float).eps * np.abs(p).max()
        with h5py.File(spsolve.snapshots(self.directory / "out")[STEPS]) as file:
            np.testing.assert_allclose(file["p"], p[-1], rtol=0, atol=tolerance)
            np.testing.assert_allclose(file["q"], q[-1], rtol=0, atol=tolerance)
        with h5py.File(self.directory / "out/probes.h5") as file:
            points = ((100.0, 123.4), (395, 531.5), (-5, 3))
            np.testing.assert_array_equal(file["all/at"], points)
            np.testing.assert_array_equal(file["all/step"], np.arange(STEPS + 1))
            np.testing.assert_array_equal(file["all/time"], np.arange(STEPS + 1) * DT)
            for name, levels in (("p", p), ("q", q)):
                expected = np.array([[at(level, point) for point in points] for level in levels])
                np.testing.assert_allclose(file["all"][name], expected, rtol=0, atol=tolerance)
            np.testing.assert_array_equal(file["few/step"], np.arange(0, STEPS + 1, 7))
            np.testing.assert_allclose(file["few/q"][:, 0], q[::7, 21, 20] * 0 + [at(level, (206.0, 206.0)) for level in q[::7]],
                                       rtol=0, atol=tolerance)
        x = ORIGIN[1] + SPACING * np.arange(SHAPE[1])
        c = (1500 + ORIGIN[0] + SPACING * np.arange(SHAPE[0]))[:, None]
        for row in spsolve.diagnostics(self.directory / "out"):
            n = int(row["step"])
            energy = 0.5 * p[n]**2 * c
            np.testing.assert_allclose(row["energy"], energy.sum(), rtol=0,
                                       atol=2 * p.size * tolerance * np.abs(p).max() * c.max())
            np.testing.assert_allclose(row["total"], (q[n] + x + n * DT).sum(), rtol=0, atol=p[0].size * (tolerance + 1e-13))

    def test_ranks_and_restarts_leave_the_same_files(self):
        self.run_to(0, self.input)
        whole = self.directory / "out"
        for ranks in (2, 4):
            self.run_to(0, self.input, "--output", f"ranks{ranks}", ranks=ranks)
            for name in ("probes.h5", "diagnostics.csv", "snapshot_0000000060.hdf"):
                self.assertEqual((self.directory / f"ranks{ranks}" / name).read_bytes(), (whole / name).read_bytes(), name)
        again = self.directory / "again"
        shutil.copytree(whole, again)
        (again / "checkpoint_0000000050.h5").unlink()
        self.run_to(0, self.input, "--output", "again", "--restart", "latest", ranks=3)
        for name in ("probes.h5", "diagnostics.csv", "snapshot_0000000060.hdf"):
            self.assertEqual((again / name).read_bytes(), (whole / name).read_bytes(), name)
        # Other probes must not continue the existing rows.
        refused = self.run_to(2, self.input, "--output", "again", "--restart", "latest", *spsolve.settings("probes.1.every=5"))
        self.assertIn("[[probes]] are others", refused.err)

    def test_a_longer_run_keeps_the_rows_of_a_shorter_one(self):
        self.run_to(0, self.input, *spsolve.settings("time.steps=40", "checkpoint.final=true"))
        with h5py.File(self.directory / "out/probes.h5") as file:
            self.assertEqual(file["all/p"].shape, (41, 3))
        self.run_to(0, self.input, "--restart", "latest")
        self.run_to(0, self.input, "--output", "whole")
        self.assertEqual((self.directory / "out/probes.h5").read_bytes(), (self.directory / "whole/probes.h5").read_bytes())

    def test_a_single_stencil_takes_sources_and_probes(self):
        stencil = """
            [stencil]
            preset = "heat"
            diffusivity = 0.2
            dt = 1.0
            [initial]
            expression = "0"
"""
        (self.directory / "heat.toml").write_text(f"""
            [grid]
            shape = [15, 17]
            {stencil}
            [[point_sources]]
            at = [7, 8]
            value = "exp(-t/10)"
            [[probes]]
            name = "middle"
            at = [7.25, 8]
            [time]
            steps = 20
            """)
        self.run_to(0, "heat.toml", ranks=2)
        u, expected = np.zeros((15, 17)), [0.0]
        for n in range(20):
            u = u + 0.2 * sum(np.roll(u, shift, axis) - u for shift in (1, -1) for axis in (0, 1))
            u[7, 8] += np.exp(-n / 10)
            expected.append(0.75 * u[7, 8] + 0.25 * u[8, 8])
        with h5py.File(self.directory / "out/heat/probes.h5") as file:
            np.testing.assert_allclose(file["middle/u"][:, 0], expected, rtol=20 * 20 * np.finfo(float).eps)
        # Launches between exchanges of halos add sources of neighbours, too.
        self.run_to(0, "heat.toml", "--output", "rarely", *spsolve.settings("parallel.exchange_every=3"), ranks=2)
        for name in ("probes.h5", "snapshot_0000000020.hdf"):
            self.assertEqual((self.directory / "rarely" / name).read_bytes(), (self.directory / "out/heat" / name).read_bytes(), name)
        for fuse in (2, 3, 5) if spsolve.ON_GPU else ():
            for ranks in (1, 3):
                self.run_to(0, "heat.toml", "--output", "fused", "--overwrite", *spsolve.settings(f"time.fuse={fuse}"), ranks=ranks)
                for name in ("probes.h5", "snapshot_0000000020.hdf"):
                    self.assertEqual((self.directory / "fused" / name).read_bytes(), (self.directory / "out/heat" / name).read_bytes(), name)
        if not spsolve.ON_GPU:
            self.assertIn("[time] fuse = 2: point sources are added to this [stencil] after single steps",
                          self.run_to(2, "check", "heat.toml", *spsolve.settings("time.fuse=2")).err)
        # Equations with the same weights must give the same values.
        (self.directory / "equations.toml").write_text((self.directory / "heat.toml").read_text().replace(stencil, """
            [fields.u]
            [equations]
            step = "u.next = u + 0.2*laplace(u)"
""").replace("steps = 20", "steps = 20\ndt = 1.0"))
        self.run_to(0, "equations.toml", "--output", "equations", ranks=3)
        with h5py.File(self.directory / "equations/probes.h5") as file:
            np.testing.assert_allclose(file["middle/u"][:, 0], expected, rtol=20 * 20 * np.finfo(float).eps)

    def test_rows_are_written_while_the_run_goes_on(self):
        """Of few points a thousand rows travel at a time: here three such chunks and a rest, of two groups."""
        steps, places = 3100, np.random.default_rng(2).uniform(0, (14, 16), (60, 2))
        self.input.write_text(f"""
            [grid]
            shape = [15, 17]
            [fields.u]
            initial = "sin(0.3*x*y)"
            [fields.v]
            initial = "x"
            [equations]
            step = "u.next = u + 0.2*laplace(u); v.next = -v"
            [[probes]]
            name = "both"
            at = {places.tolist()}
            [[probes]]
            name = "rarely"
            fields = ["v"]
            at = [3.5, 4.5]
            every = 2
            [time]
            steps = {steps}
            [diagnostics]
            every = 0
            """)
        self.run_to(0, self.input, "--output", "out", *spsolve.settings("output.background=true"))
        y, x = np.mgrid[:15, :17]
        below = places.astype(int)
        share = places - below
        levels = [np.sin(0.3 * x * y)]
        for _ in range(steps):
            u = levels[-1]
            levels.append(u + 0.2 * sum(np.roll(u, shift, axis) - u for shift in (1, -1) for axis in (0, 1)))
        at = lambda levels: sum(np.abs(1 - i - share[:, 0]) * np.abs(1 - j - share[:, 1])
                                * levels[..., (below[:, 0] + i) % 15, (below[:, 1] + j) % 17] for i in (0, 1) for j in (0, 1))
        with h5py.File(self.directory / "out/probes.h5") as file:
            np.testing.assert_array_equal(file["both/step"], np.arange(steps + 1))
            # A step of weights that add up to 1 rounds ten times, and does not enlarge errors.
            np.testing.assert_allclose(file["both/u"], at(np.array(levels)), rtol=0, atol=10 * steps * np.finfo(float).eps)
            signs = (-1.0)**np.arange(steps + 1)
            np.testing.assert_allclose(file["both/v"], signs[:, None] * at(1.0 * x), rtol=0, atol=100 * np.finfo(float).eps)
            np.testing.assert_array_equal(file["rarely/v"][:, 0], np.full(steps // 2 + 1, 4.5))
        for ranks, background in ((1, "false"), (4, "true"), (3, "false")):
            output = f"ranks{ranks}"
            self.run_to(0, self.input, "--output", output, *spsolve.settings(f"output.background={background}"), ranks=ranks)
            self.assertEqual((self.directory / output / "probes.h5").read_bytes(), (self.directory / "out/probes.h5").read_bytes())

    def test_a_killed_run_leaves_the_rows_of_a_hundred_thousand_receivers(self):
        """Rows up to the last checkpoint are in the file, those beyond are right or missing, and a restart writes the rest."""
        shape, steps, every, kept = (40, 50), 120, 20, 40
        places = np.random.default_rng(3).uniform(0, np.array(shape) - 1, (100_000, 2))
        with h5py.File(self.directory / "places.h5", "w") as file:
            file["at"] = places
        self.input.write_text(f"""
            [grid]
            shape = {list(shape)}
            [fields.u]
            initial = "sin(0.3*x)*y"
            [equations]
            step = "u.next = u + 0.2*laplace(u)"
            [[probes]]
            name = "all"
            at = {{ file = "places.h5", dataset = "at" }}
            [time]
            steps = {steps}
            [compute]
            precision = "fp32"
            [checkpoint]
            every = {every}
            """)
        self.run_to(0, self.input, "--output", "whole")
        whole = self.directory / "whole"
        with h5py.File(whole / "probes.h5") as file:
            rows = file["all/u"][:]
        u, below = spsolve.values(spsolve.snapshots(whole)[steps]).astype(float), places.astype(int)
        share = places - below
        expected = sum(np.abs(1 - i - share[:, 0]) * np.abs(1 - j - share[:, 1]) * u[below[:, 0] + i, below[:, 1] + j]
                       for i in (0, 1) for j in (0, 1))
        np.testing.assert_allclose(rows[steps], expected, rtol=0, atol=np.finfo(np.float32).eps * np.abs(u).max())
        killed = self.directory / "killed"
        with spsolve.Job(self.input, "--output", killed, ranks=2) as job:
            job.wait_for(lambda: max(spsolve.checkpoints(killed), default=0) >= kept, f"the checkpoint of step {kept}")
            for rank in job.ranks():
                os.kill(rank, signal.SIGKILL)
            job.wait()
        with h5py.File(killed / "probes.h5") as file:
            written = np.flatnonzero(file["all/step"][:] >= 0)
            np.testing.assert_array_equal(written, np.arange(written.size))
            self.assertGreater(written.size, kept)
            np.testing.assert_array_equal(file["all/u"][:written.size], rows[:written.size])
        self.run_to(0, self.input, "--output", killed, "--restart", "latest")
        self.assertEqual((killed / "probes.h5").read_bytes(), (whole / "probes.h5").read_bytes())

    @unittest.skipUnless(spsolve.ON_GPU, "CPUs take single steps where points are worked on")
    def test_launches_of_several_steps_leave_the_files_of_single_ones(self):
        self.run_to(0, self.input, *spsolve.settings("time.fuse=1"))
        for fuse in (2, 3, 5):
            for ranks in (1, 3):
                output = f"fuse{fuse}ranks{ranks}"
                self.run_to(0, self.input, "--output", output, *spsolve.settings(f"time.fuse={fuse}"), ranks=ranks)
                for name in ("probes.h5", "diagnostics.csv", "snapshot_0000000060.hdf"):
                    self.assertEqual((self.directory / output / name).read_bytes(), (self.directory / "out" / name).read_bytes(),
                                     (output, name))

    def test_errors_name_the_key(self):
        for change, message in (
                ("point_sources.0.at=[1000, 0]", "[point_sources.0] 'at': y = 1000 lies outside the grid, which goes from -5 to 395"),
                ("point_sources.0.value=q", "[point_sources.0] value: line 1, column 1: found the unknown name 'q'"),
                ("point_sources.0.field=r", "there is no field 'r'; did you mean 'p'? fields: p, q"),
                ("point_sources.1.at=[[20, 520]]", "dataset /two has 2 columns for 1 point; wanted one, or one for each point"),
                ("time.steps=61", "dataset /two has 60 rows for 61 steps; wanted one for each step"),
                ('point_sources.2.at={file="signals.h5", dataset="/two"}', "lies outside the grid"),
                ('point_sources.2.at={file="none.h5", dataset="/two"}', "none.h5: No such file or directory"),
                ("probes.1.name=all", "there are probes with the name 'all' already"),
                ("probes.7.every=2", "'7' is no table of the list; wanted a number from 0 to 1"),
                ("diagnostics.sums={a='p + r'}", "[diagnostics.sums] a: line 1, column 5: found the unknown name 'r'")):
            with self.subTest(change):
                self.assertIn(message, self.check_text(change))


class Streams(spsolve.TestCase):
    INPUT = """
        [grid]
        shape   = [11, 13, 17]
        spacing = [0.1, 0.2, 0.3]
        origin  = [1.0, 2.0, 3.0]
        [fields.a]
        initial = "x + 10*y + 100*z"
        [fields.b]
        initial = "sin(x)"
        [equations]
        step = "a.next = a + dt; b.next = 0.5*b[1, 0, 0] + 0.5*b"
        [time]
        dt    = 0.125
        steps = 10
        [output]
        directory = "out"
        [[outputs]]
        name   = "slice"
        fields = ["b"]
        every  = 3
        region = { z = [1.52, 1.52] }
        [[outputs]]
        name   = "cut"
        every_time = 0.3
        region = { x = [3.2, 3.2], y = [2.1, 4.0] }
        stride = 2
        precision = "fp32"
        [[outputs]]
        name   = "part"
        region = { y = [2.4, 3.0], z = [1.0, 1.3] }
        [[outputs]]
        name   = "edge"
        fields = ["a"]
        stride = 4
        region = { z = [2.0, 2.0] }
        """

    def test_hold_their_fields_points_and_steps(self):
        (self.directory / "case.toml").write_text(self.INPUT)
        self.run_to(0, "case.toml", ranks=3)
        self.run_to(0, "case.toml", "--output", "alone")
        z, y, x = (o + h * np.arange(n) for o, h, n in zip((1.0, 2.0, 3.0), (0.1, 0.2, 0.3), (11, 13, 17)))
        a = [x + 10 * y[:, None] + 100 * z[:, None, None]]
        b = [np.broadcast_to(np.sin(x), (11, 13, 17))]
        for _ in range(10):
            a.append(a[-1] + 0.125)
            b.append(0.5 * np.roll(b[-1], -1, 0) + 0.5 * b[-1])
        found = {}
        for path in sorted((self.directory / "out").glob("*.hdf")):
            stream, step = path.stem.split("_")
            step = int(step)
            found.setdefault(stream, []).append(step)
            self.assertEqual(path.read_bytes(), (self.directory / "alone" / path.name).read_bytes(), path.name)
            eps = 16 * np.finfo(float).eps * 200
            with h5py.File(path) as file:
                view = file["VTKHDF"].attrs
                self.assertEqual(file.attrs["step"], step)
                if stream == "slice":
                    self.assertNotIn("a", file)
                    np.testing.assert_allclose(file["b"], b[step][5], rtol=0, atol=eps)
                    np.testing.assert_allclose(view["Origin"][:2], [3.0, 2.0])
                elif stream == "cut":
                    self.assertEqual(file["a"].dtype, np.float32)
                    np.testing.assert_allclose(file["a"], a[step][::2, 2:11:2, 0], rtol=np.finfo(np.float32).eps)
                    np.testing.assert_allclose(view["Spacing"][:2], [0.4, 0.2])
                    np.testing.assert_allclose(view["Origin"][:2], [2.4, 1.0])
                elif stream == "part":
                    np.testing.assert_allclose(file["a"], a[step][0:4, 2:6, :], rtol=0, atol=eps)
                elif stream == "edge":  # the last plane is left out by the stride; the one before is the nearest
                    np.testing.assert_allclose(file["a"], a[step][8, ::4, ::4], rtol=0, atol=eps)
        # 0.3 is reached at step 3 (0.375), 0.6 at 5, 0.9 at 8, 1.2 at 10.
        self.assertEqual(found, {"slice": [0, 3, 6, 9, 10], "cut": [0, 3, 5, 8, 10], "part": [10], "edge": [10], "snapshot": [10]})

    def test_errors_name_the_key(self):
        (self.directory / "case.toml").write_text(self.INPUT)
        for change, message in (("outputs.0.region={z=[9, 9]}", "[outputs.0] no point of the grid lies in 'region'"),
                                ("outputs.3.region={z=[1.05, 1.35]}",
                                 "[outputs.3] no point of the grid that 'stride' keeps lies in 'region'"),
                                ("outputs.0.region={y=[3, 2]}", "'y' must be two coordinates, the lower one first"),
                                ("outputs.0.name=snapshot", "'name' is 'snapshot'"),
                                ("outputs.1.every=2", "'every' and 'every_time' contradict each other"),
                                ("outputs.0.fields=['q']", "there is no field 'q'")):
            with self.subTest(change):
                self.assertIn(message, self.run_to(2, "check", "case.toml", *spsolve.settings(change)).err)


class Steady(spsolve.TestCase):
    def test_the_run_ends_where_nothing_changes(self):
        spsolve.write_input(self.directory / "case.toml", {
            "grid": {"shape": [50]},
            "boundary": {"x": {"low": {"dirichlet": 1.0}, "high": {"dirichlet": 0.0}}},
            "stencil": {"preset": "heat", "diffusivity": 0.4, "dt": 1.0},
            "initial": {"expression": "0"},
            "time": {"steps": 100000, "until_change": 1e-6},
            "diagnostics": {"every": 100},
            "output": {"directory": "out"},
            "checkpoint": {"final": True}})
        result = self.run_to(0, "case.toml")
        rows = spsolve.diagnostics(self.directory / "out")
        last = int(rows[-1]["step"])
        self.assertIn(f"steady at step {last}", result.out)
        self.assertLess(rows[-1]["change_l2"], 1e-6 * rows[-1]["l2"])
        self.assertTrue(all(row["change_l2"] >= 1e-6 * row["l2"] for row in rows[1:-1]))
        self.assertEqual(set(spsolve.snapshots(self.directory / "out")), {last})
        self.assertEqual(set(spsolve.checkpoints(self.directory / "out")), {last})

    def test_a_run_that_never_looks_is_told(self):
        file = spsolve.write_input(self.directory / "case.toml", {
            "grid": {"shape": [50]}, "stencil": {"preset": "heat", "diffusivity": 0.4, "dt": 1.0}, "initial": {"expression": "x"},
            "time": {"steps": 20, "until_change": 1e-6}, "output": {"directory": "out"}})
        for every, told in ((20, True), (100, True), (19, False)):
            for verb in (["check"], []):
                result = self.run_to(0, *verb, file, *spsolve.settings(f"diagnostics.every={every}"), *([] if verb else ["--overwrite"]))
                self.assertEqual(f"looked for at diagnostics, every {every} steps: never before the last step, 20" in result.err, told)

    def test_a_restart_where_nothing_changes_ends_there(self):
        """A killed run may leave the checkpoint of its last step and nothing behind it."""
        file = spsolve.write_input(self.directory / "case.toml", {
            "grid": {"shape": [50]}, "fields.u": {"initial": "sin(x)"}, "fields.v": {"initial": 0.0},
            "equations": {"step": "u.next = 0.5*u + 0.1*u[1] + 0.2; v.next = 0.2*v + u.next"},
            "time": {"steps": 1000, "until_change": 1e-2}, "diagnostics": {"every": 2}, "compute": {"device": "cpu"},
            "output": {"directory": "out", "every": 2}, "checkpoint": {"every": 1, "keep": 100},
            "outputs": [{"name": "stream", "every": 7}]})
        self.run_to(0, file)
        whole = self.directory / "out"
        last = max(spsolve.checkpoints(whole))
        self.assertLess(last, 100)
        for kept, left_out in ((last, f"snapshot_{last:010}.hdf"), (last, f"stream_{last:010}.hdf"), (last - 1, "")):
            with self.subTest(kept=kept, left_out=left_out):
                again = self.directory / "again"
                shutil.rmtree(again, ignore_errors=True)
                shutil.copytree(whole, again)
                for step in range(kept + 1, last + 1):
                    (again / f"checkpoint_{step:010}.h5").unlink()
                if left_out:
                    (again / left_out).unlink()
                result = self.run_to(0, file, "--output", "again", "--restart", "latest", ranks=2)
                self.assertIn(f"steady at step {last}", result.out)
                for path in whole.iterdir():
                    if path.name != "run.json":
                        values = spsolve.values if path.suffix == ".h5" else pathlib.Path.read_bytes
                        self.assertTrue(np.array_equal(values(again / path.name), values(path)), path.name)
                self.assertEqual(sorted(path.name for path in again.iterdir()), sorted(path.name for path in whole.iterdir()))
        # Whoever asks for less goes on.
        self.run_to(0, file, "--restart", "latest", *spsolve.settings("time.until_change=1e-5"))
        self.assertGreater(max(spsolve.checkpoints(whole)), last)


if __name__ == "__main__":
    unittest.main()
