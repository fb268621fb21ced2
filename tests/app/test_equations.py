# SPDX-License-Identifier: Apache-2.0
"""The inputs that state equations: every snapshot against a step in numpy (example_models.py), the same bits from one to four
ranks and after a restart, and what is known exactly: frequencies, profiles, conserved sums, the speed of a front."""
import concurrent.futures
import json
import os
import re
import shutil
import signal
import tomllib
import unittest

import h5py
import numpy as np

import example_models as models
import spsolve
from rounding_model import OPERATIONS, UNIT, Bound, Terms

CHECKPOINT = 5


def fields_of(path, names):
    with h5py.File(path) as file:
        return [file[name][()] for name in names]


def without_comments(value):
    """Returns a table whose texts have neither comments nor spaces at the ends of lines."""
    if isinstance(value, dict):
        return {key: without_comments(item) for key, item in value.items()}
    if isinstance(value, str):
        return "\n".join(line.partition("#")[0].strip() for line in value.strip().splitlines())
    return value


def holds(whole, part):
    """Returns whether a table has all entries of another, at every depth."""
    if not isinstance(part, dict) or not isinstance(whole, dict):
        return whole == part
    return all(key in whole and holds(whole[key], item) for key, item in part.items())


class Equations(spsolve.TestCase):
    def input_of(self, model):
        """Returns a copy of the example, beside the datasets that it names."""
        source = spsolve.SOURCE / "inputs" / f"{model.name}.toml"
        path = self.directory / source.name
        if not path.exists():
            shutil.copy(source, path)
            if hasattr(model, "datasets"):
                with h5py.File(self.directory / "velocity.h5", "w") as file:
                    for name, values in model.datasets.items():
                        file[name] = values
        return path

    def command(self, model, precision, output, *arguments, every=1, steps=None):
        """Returns the arguments that run an example with the settings of its model."""
        return [self.input_of(model), *model.settings(), *spsolve.settings(
            f"time.steps={model.steps if steps is None else steps}", f"output.every={every}", f"output.precision={precision}",
            f"compute.precision={precision}", f"diagnostics.every={every}"), "--output", output, *arguments]

    def solve(self, *command, ranks=None, **options):
        """Runs a command(). Returns the directory of the results."""
        self.run_to(0, *self.command(*command, **options), ranks=ranks)
        return self.directory / command[2]

    def assert_same_bits(self, one, other, first=-1):
        """Compares all files of both runs beyond step `first`."""
        for name in sorted(path.name for path in one.iterdir()):
            if name.startswith("snapshot_") and spsolve.step_of(one / name) > first:
                self.assertEqual((one / name).read_bytes(), (other / name).read_bytes(), name)
            elif name.startswith("checkpoint_") and spsolve.step_of(one / name) > first:
                with h5py.File(one / name) as a, h5py.File(other / name) as b:
                    datasets = [key for key in a if isinstance(a[key], h5py.Dataset)]
                    self.assertGreater(len(datasets), 0)
                    for key in datasets:
                        self.assertEqual(a[key][()].tobytes(), b[key][()].tobytes(), f"{key} of {name}")
            elif name == "diagnostics.csv":
                rows, others = [[row for row in spsolve.diagnostics(path) if row["step"] > first] for path in (one, other)]
                self.assertEqual(rows, others)

    def compare(self, model, directory, bound, precision, steps, resting=()):
        """Expects that snapshots lie within the bound of the states of the model, and that the bound is small against the
        changes of the field. Fields in `resting` do not change."""
        found = spsolve.snapshots(directory)
        for n in steps:
            for name, value, exact, tolerance in zip(model.fields, fields_of(found[n], model.fields), bound.states[n],
                                                     bound.at(n, precision)):
                self.assertEqual(value.dtype, {"fp32": np.float32, "fp64": np.float64}[precision])
                excess = np.abs(value.astype(float) - exact) - tolerance
                self.assertLessEqual(excess.max(), 0, f"{name} of step {n} in {precision}, tolerance {tolerance.max():.2g}")
        for i, name in enumerate(model.fields):
            change = max(np.abs(state[i] - bound.states[0][i]).max() for state in bound.states)
            if name in resting:
                self.assertEqual(change, 0, name)
            else:
                self.assertLess(bound.at(steps[-1], precision)[i].max(), {"fp64": 1e-8, "fp32": 1e-2}[precision] * change, name)

    def check_model(self, model):
        bound = Bound(model.step, model.trajectory(), model.is_linear)
        self.input_of(model)
        with concurrent.futures.ThreadPoolExecutor() as pool:  # runs this short wait for files most of the time
            runs = {precision: pool.submit(self.run_thrice, model, precision) for precision in UNIT}
        for precision, run in runs.items():
            one, several, again = run.result()
            self.compare(model, one, bound, precision, range(1, model.steps + 1))
            self.assert_same_bits(one, several)
            self.assert_same_bits(one, again, first=CHECKPOINT)

    def run_thrice(self, model, precision):
        """Runs on one rank, on three or four, and on two from a checkpoint of the first run on."""
        checkpoints = spsolve.settings(f"checkpoint.every={CHECKPOINT}", "checkpoint.keep=99")
        one = self.solve(model, precision, f"{precision}/one", *checkpoints)
        several = self.solve(model, precision, f"{precision}/several", *checkpoints, ranks=3 if precision == "fp64" else 4)
        checkpoint = one / f"checkpoint_{CHECKPOINT:010}.h5"
        return one, several, self.solve(model, precision, f"{precision}/again", *checkpoints, "--restart", checkpoint, ranks=2)

    def test_several_steps_per_launch_leave_the_files_of_single_ones(self):
        """Events fall at steps that are no multiple of the steps of a launch."""
        # Marches of order 8 on GPUs refuse grids on which a read beyond one wall is reflected beyond the other, and levels that
        # shared memory cannot hold.
        thick = {"acoustic3d": ["grid.shape=[9, 8, 11]"]}
        too_large = lambda *case: spsolve.ON_GPU and case in (("acoustic3d", "fp32", 3), ("acoustic3d", "fp64", 2), ("acoustic3d", "fp64", 3))
        for model in (models.Acoustic2D(), models.Acoustic3D(), models.GrayScott(), models.HeatTwoMaterials()):
            for precision in UNIT:
                solve = lambda fuse, ranks: self.solve(model, precision, f"{model.name}_{precision}/fuse{fuse}ranks{ranks}", *spsolve.settings(
                    f"time.fuse={fuse}", "checkpoint.every=7", *thick.get(model.name, [])), every=7, ranks=ranks, steps=14)
                single = solve(1, 1)
                for fuse, ranks in ((2, 1), (3, 3)):
                    if too_large(model.name, precision, fuse):
                        continue
                    several = solve(fuse, ranks)
                    self.assertEqual(json.loads((several / "run.json").read_text())["plan"]["fuse"], fuse)
                    self.assert_same_bits(single, several)

    def test_killed_examples_leave_the_bytes_of_whole_runs(self):
        """Waves of two time levels, and equations that read `.next`, go on on other numbers of ranks after SIGKILL."""
        checkpoints = spsolve.settings("checkpoint.every=20")
        for model, precision, ranks, ranks_after in ((models.Acoustic2D(), "fp32", 3, 2), (models.Schroedinger(), "fp64", 2, 4)):
            with self.subTest(model.name):
                killed = self.directory / model.name
                newest = lambda: max(spsolve.checkpoints(killed), default=0)
                with spsolve.Job(*self.command(model, precision, killed, *checkpoints, every=7, steps=10**8), ranks=ranks) as job:
                    job.wait_for(lambda: newest() >= 40, "the checkpoint of step 40")
                    for rank in job.ranks():
                        os.kill(rank, signal.SIGKILL)
                    job.wait()
                begin = newest()
                options = {"every": 7, "steps": begin + 33}
                self.solve(model, precision, killed, *checkpoints, "--restart", "latest", ranks=ranks_after, **options)
                whole = self.solve(model, precision, f"{model.name}_whole", *checkpoints, **options)
                self.assertEqual(max(spsolve.snapshots(whole)), begin + 33)
                self.assert_same_bits(whole, killed)

    def test_every_example_has_a_model(self):
        paths = (spsolve.SOURCE / "inputs").glob("*.toml")
        self.assertEqual({path.stem for path in paths if "equations" in tomllib.loads(path.read_text())},
                         {model.name for model in models.MODELS})

    def test_guide_shows_the_inputs(self):
        """Each block of the guide is part of an input, or a whole input, which runs."""
        page = (spsolve.SOURCE / "docs" / "guide" / "equations.md").read_text()
        inputs = [without_comments(tomllib.loads(path.read_text())) for path in (spsolve.SOURCE / "inputs").glob("*.toml")]
        blocks = re.findall(r"(?ms)^```toml\n(.*?)^```", page)
        self.assertGreaterEqual(len(blocks), 4)
        for number, block in enumerate(blocks):
            sections = without_comments(tomllib.loads(block))
            if "grid" in sections:
                path = self.directory / f"block{number}.toml"
                path.write_text(block)
                self.run_to(0, path, *spsolve.settings("time.steps=3"))
            else:
                self.assertTrue(any(holds(whole, sections) for whole in inputs), block)

    def check_exact(self, model, states, steps, resting=()):
        """Compares with an exact solution: the step of the model keeps it up to rounding, and so must the program."""
        bound = Bound(model.step, states, is_linear=True)
        self.assertLess(bound.defect, max(model.shape) * OPERATIONS * UNIT["fp64"])
        for precision in UNIT:
            self.compare(model, self.solve(model, precision, f"exact_{precision}", steps=len(states) - 1), bound, precision, steps, resting)

    def test_recipes_of_the_guide_run(self):
        page = (spsolve.SOURCE / "docs" / "guide" / "equations.md").read_text()
        recipes = re.findall(r"\| `(.*)` \|$", page.partition("## Recipes")[2].partition("\n## ")[0], re.MULTILINE)
        self.assertGreaterEqual(len(recipes), 6)
        for number, step in enumerate(recipes):
            fields = re.findall(r"(\w+)\.next = ", step)
            constants = {name: 0.5 for name in ("kappa", "a", "g", "w", "E", "seed", "h") if name not in fields}
            text = "\n".join(["grid = { shape = [9, 8] }", "[constants]", *(f"{key} = {value}" for key, value in constants.items()),
                              *(f'[fields.{field}]\ninitial = "0.1*sin(x)"' for field in fields),
                              "[equations]", f'step = "{step}"', "[time]", "dt = 0.01", "steps = 3"])
            path = self.directory / f"recipe{number}.toml"
            path.write_text(text)
            self.run_to(0, path)

    def test_check_explains_the_equations(self):
        """The kinds, radii, bytes and ranges of the text follow from the header of the input."""
        said = self.run_to(0, "check", spsolve.SOURCE / "inputs" / "acoustic2d.toml").out
        self.assertIn("field p, radius 4 x 4, fp64, 1000 steps of 0.001 to time 1\n", said)
        explained = said[said.index("canonical form"):said.index("files:")]
        explained = re.sub(r"(?<=spectral radius of a step: )(1\.0000\d*|0\.9999\d*)", "1", explained)
        shot = "(47.12388980384689*(t - 0.1))^2"
        self.assertEqual(explained.splitlines(), [
            "canonical form, as units compute it:",
            "  k1 = damp  (one value per point)",
            "  k2 = (c*0.001)^2  (one value per point)",
            "  k3 = 1e-06*source  (one value per point)",
            f"  s1 = 1e+06*(1 - 2*{shot})*exp(-{shot})  (one value per step)",
            "  n1 = k1*p.previous",
            "  n2 = k2*<17 taps of p, radius [4, 4]>",
            "  n3 = k3*s1",
            "  p.next = k1*<2*p - n1 + n2 + n3>",
            "p.next: linear, weights that vary; reads p.previous, p at [-4..4, -4..4]",
            "a step: 1 pass of 1 equation, 48 bytes per point that must move (2 fields and 3 coefficients read, 1 field written)",
            "spectral radius of a step: 1 (with the values of some points in place of what varies)",
            "values of [coefficients.c]: from 1500 to 3200",
            "values of [coefficients.damp]: from 0.941764534 to 1",  # exp(-0.06)
            "values of [coefficients.outside]: from 0 to 400",
            "values of [coefficients.source]: from 0 to 1",
            "values of [fields.p.initial]: from 0 to 0",
            "no 'previous' in [fields.p]: as at the beginning"])

    def test_check_warns_of_previous_values_that_are_not_read(self):
        path = self.directory / "unread.toml"
        path.write_text("""
            grid = { shape = [8] }
            fields = { u = { previous = 1.0 }, v = { previous = 1.0 } }
            equations = { step = "u.next = u; v.next = v.previous" }
            time = { steps = 1 }
            """)
        said = self.run_to(0, "check", path).err
        self.assertIn("[fields.u] previous is not used, because the equations do not read u.previous", said)
        self.assertNotIn("[fields.v]", said)

    def test_check_says_which_fields_begin_with_defaults(self):
        path = self.directory / "defaults.toml"
        def said(fields, step):
            path.write_text(f"grid = {{ shape = [8] }}\nfields = {fields}\nequations = {{ step = '{step}' }}\ntime = {{ steps = 1 }}\n")
            return self.run_to(0, "check", path).out
        waves = "u.next = u.previous + v; v.next = v.previous; w.next = 0.5*w"
        text = said("{ u = {}, v = { initial = 0, previous = 1 }, w = {} }", waves)
        self.assertIn("\nno 'initial' in [fields.u], [fields.w]: 0 at the beginning\n", text)
        self.assertIn("\nno 'previous' in [fields.u]: as at the beginning\n", text)
        self.assertEqual(text.count("\ninitial = "), 1)
        self.assertNotRegex(said("{ u = { initial = 0, previous = 1 }, v = { initial = 0, previous = 1 }, w = { initial = 0 } }", waves),
                            "no 'initial'|no 'previous'")
        # A single linear equation runs as a stencil.
        self.assertIn("\nno 'initial' in [fields.u]: 0 at the beginning\n", said("{ u = {} }", "u.next = 0.5*u"))

    def test_check_ends_in_time_with_many_fields(self):
        """Eigenvalues of all sampled waves would take minutes for 40 fields, and hours for 400, which no kernel for GPUs takes."""
        for count, wanted in ((40, "spectral radius of a step: 1.001"), (400, "spectral radius: not looked for")):
            path = self.directory / f"{count}.toml"
            path.write_text("grid = { shape = [99, 99] }\n[fields]\n" + "".join(f"u{i} = {{}}\n" for i in range(count))
                            + '[equations]\nstep = """\n'
                            + "".join(f"u{i}.next = u{i} + 0.01*laplace(u{i}) + 0.001*u{(i + 1) % count}\n" for i in range(count))
                            + '"""\n[time]\nsteps = 1\n')
            self.assertIn(wanted, self.run_to(0, "check", path, *spsolve.settings("compute.device=cpu")).out)

    def test_standing_wave_has_its_discrete_frequency(self):
        model = models.StandingWave()
        self.check_exact(model, model.exact(150), range(10, 151, 20))  # more than one period

    def test_standing_wave_in_strides(self):
        """Five steps as one sweep on tensor cores, emulated on CPUs: within the bound that the plan gives, the same bits from three
        ranks, and the change of one step in diagnostics. Checkpoints would begin the strides anew, at the cost of the promise."""
        model, steps = models.StandingWave(), 150
        states = [state[0] for state in model.exact(steps)]
        largest = max(np.linalg.norm(state) for state in states)
        for precision, unit in (("fp32", "sparse-tensor"), ("fp64", "tensor")):
            arguments = spsolve.settings("time.fuse=5", f"compute.unit={unit}")
            one = self.solve(model, precision, f"{precision}/one", *arguments, every=25, steps=steps)
            plan = json.loads((one / "run.json").read_text())["plan"]
            self.assertTrue(plan["strided"])
            bound = plan["error_bound_per_step"] * steps * largest
            self.assertLess(bound, {"fp64": 1e-9, "fp32": 0.5}[precision] * largest)
            for path in one.glob("snapshot_*"):
                error = fields_of(path, ["p"])[0].astype(float) - states[spsolve.step_of(path)]
                self.assertLess(np.linalg.norm(error), bound, path)
            for row in spsolve.diagnostics(one)[1:]:
                n = int(row["step"])
                self.assertAlmostEqual(row["change_l2"], np.linalg.norm(states[n] - states[n - 1]), delta=2 * bound)
            three = self.solve(model, precision, f"{precision}/three", *arguments, every=25, ranks=3, steps=steps)
            self.assert_same_bits(one, three)
            refused = self.run_to(2, self.input_of(model), *model.settings(), *arguments, *spsolve.settings(
                f"compute.precision={precision}", "time.steps=6000", "checkpoint.every=600"), "--output", "refused")
            self.assertIn("strides promise 4 times", refused.err)

    def check_cavity(self, model, profile, leading, omega):
        """Two kinds of fields swing in turn. The leading ones are updated first and the others begin at 0, so that they go as
        cos(omega (n - 1/2) dt) and sin(omega n dt)."""
        start = [profile if name == leading else model.zero for name in model.fields]
        first = model.step(start, 0)
        angle = omega * model.dt
        states = [[f * np.cos((n - 0.5) * angle) / np.cos(0.5 * angle) if name[0] == leading[0]
                   else f * np.sin(n * angle) / np.sin(angle) for name, f in zip(model.fields, first)] for n in range(41)]
        self.assertGreater(40 * angle, np.pi)  # half a period at least
        return states

    def write_profile(self, profile):
        path = self.directory / "profile.h5"
        with h5py.File(path, "w") as file:
            file["profile"] = profile
        return {"file": str(path), "dataset": "/profile"}

    def frequency(self, model, matrix, which):
        """Returns omega and the eigenvector of eigenvalue (2 sin(omega dt / 2) / dt)^2."""
        values, vectors = np.linalg.eigh(matrix)
        return 2 / model.dt * np.arcsin(model.dt * np.sqrt(values[which]) / 2), vectors[:, which]

    def test_cavity_mode_in_2d(self):
        """Hz = cos(pi (j + 1/2) / ny) f(x) in a half-filled box; f is an eigenvector along x."""
        grid = {"grid.shape": [6, 10], "grid.spacing": [0.02, 0.02], "grid.origin": [0.01, 0.01]}
        model = models.Maxwell2D(**grid)
        ny, nx = model.shape
        eps, h = model.eps[0], 0.02
        step_up = (np.eye(nx, k=1) - np.eye(nx))[:-1] / h       # differences across inner faces
        inner = np.diag(2 / (eps[:-1] + eps[1:]))
        ky = 2 * np.sin(np.pi / (2 * ny)) / h
        omega, f = self.frequency(model, (step_up.T @ inner @ step_up + np.diag(ky**2 / eps)) / model["mu0"], 1)
        profile = np.outer(np.cos(np.pi * (np.arange(ny) + 0.5) / ny), f)
        model = models.Maxwell2D(**grid, fields__Hz__initial=self.write_profile(profile))
        self.check_exact(model, self.check_cavity(model, profile, "Hz", omega), range(1, 41, 13))

    def test_cavity_mode_in_3d(self):
        """Ey = f(x) sin(pi (k + 1) / nz) in a half-filled box; f is an eigenvector along x."""
        changes = {"grid.shape": [4, 2, 6], "grid.spacing": [0.01, 0.01, 0.007], "grid.origin": [0.005, 0.005, 0.0035],
                   "coefficients.eps": "eps0 * (x < 0.02 ? 1 : 4)"}
        model = models.Maxwell3D(**changes)
        nz, _, nx = model.shape
        model.eps = model["eps0"] * np.where(model.x < 0.02, 1.0, 4.0)
        eps = (model.eps[0, 0, :-1] + model.eps[0, 0, 1:]) / 2  # at points of Ey, without the wall
        h, n = 0.007, nx - 1
        second = (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)) / h**2
        kz = 2 * np.sin(np.pi / (2 * nz)) / 0.01
        scale = np.diag(eps**-0.5)
        omega, f = self.frequency(model, scale @ (second + kz**2 * np.eye(n)) @ scale / model["mu0"], 0)
        profile = np.einsum("k,j,i->kji", np.sin(np.pi * (np.arange(nz) + 1) / nz), np.ones(2), np.append(scale @ f, 0.0))
        profile[-1] = 0.0
        profile /= np.abs(profile).max()
        changed = models.Maxwell3D(**changes, fields__Ey__initial=self.write_profile(profile))
        changed.eps = model.eps
        self.check_exact(changed, self.check_cavity(changed, profile, "Ey", omega), range(1, 41, 13), resting=["Ex", "Ez", "Hy"])

    def test_steady_profile_of_two_materials(self):
        """Resistances in series: the temperature falls in proportion to that passed so far."""
        model = models.HeatTwoMaterials(**{"grid.shape": [3, 15], "grid.spacing": [0.04, 0.04], "constants.slab": 0.0})
        self.assertEqual(set(model.k[0]), {2.0, 0.04})
        k = np.concatenate([model.k[0, :1], model.k[0], model.k[0, -1:]])  # mirrored
        resistance = np.cumsum((1 / k[:-1] + 1 / k[1:]) / 2)
        steady = 20.0 - 30.0 * resistance[:-1] / resistance[-1] + model.zero
        bound = Bound(model.step, [[steady], [steady]], is_linear=True)
        self.assertLess(bound.defect, OPERATIONS * UNIT["fp64"])
        matrix = bound.matrices[0]
        self.assertGreaterEqual(matrix.min(), -UNIT["fp64"])  # so errors add up to no more than (1 - J)^-1 of those of a step
        steps = 8000
        for precision in UNIT:
            errors = (UNIT[precision] + UNIT["fp64"]) * bound.per_unit[1] + 2 * bound.fixed[1]
            tolerance = 1.01 * np.linalg.solve(np.eye(len(matrix)) - matrix, errors)
            tolerance += np.linalg.matrix_power(matrix, steps) @ np.abs(20.0 - steady).ravel()  # what is left of the start
            self.assertLess(tolerance.max(), {"fp64": 1e-8, "fp32": 1.0}[precision])  # K, of 30
            found = spsolve.snapshots(self.solve(model, precision, precision, every=0, steps=steps))
            value, = fields_of(found[steps], ["T"])
            self.assertLessEqual((np.abs(value - steady).ravel() - tolerance).max(), 0)

    def check_sum(self, model, steps):
        """Expects that the sum over all points keeps its value: each flux takes from one cell what it gives to the next."""
        terms, u = [], model.initial()
        for n in range(steps):
            rounded, = model.step([Terms(np.abs(f)) for f in u], n)
            terms.append([rounded.roundings().sum(), np.sum(rounded.given)])
            u = model.step(u, n)
        for precision in UNIT:
            directory = self.solve(model, precision, precision, every=10, steps=steps)
            rows = spsolve.diagnostics(directory)
            for row in rows:
                drift = 1.01 * sum(UNIT[precision] * rounding + given for rounding, given in terms[:int(row["step"])])
                drift += 4 * UNIT["fp64"] * rows[0]["mean"] * u[0].size  # the means themselves
                self.assertLessEqual(abs(row["mean"] - rows[0]["mean"]) * u[0].size, drift, f"step {row['step']}")
                self.assertGreaterEqual(row["min"], 0.0)
                self.assertLessEqual(row["max"], rows[0]["max"])
            self.assertLess(drift / (rows[0]["mean"] * u[0].size), {"fp64": 1e-10, "fp32": 0.05}[precision])
            self.assertLess(rows[-1]["max"], 0.9 * rows[0]["max"])  # something happened
        return directory

    def test_wind_keeps_the_mass(self):
        self.check_sum(models.RotatingWind(), 100)

    def test_diffusion_behind_a_mask_keeps_the_mass(self):
        model = models.MaskedDiffusion()
        directory = self.check_sum(model, 100)
        value, = fields_of(spsolve.snapshots(directory)[100], ["u"])
        self.assertTrue((value[model.open == 0] == 0).all())
        self.assertGreater(value[model.open == 1].min(), 0)  # all open air is reached

    def test_schroedinger_keeps_its_norm(self):
        """Q = sum of im(n)^2 + re(n) re(n + 1) is kept exactly; errors l of a step change it by its derivative times l."""
        model = models.Schroedinger(**{"grid.shape": [24, 30], "grid.origin": [12.5, 15.0]})
        steps = 100
        for precision in UNIT:
            found = spsolve.snapshots(self.solve(model, precision, precision, steps=steps))
            states = [[f.astype(float) for f in fields_of(found[n], model.fields)] for n in range(steps + 1)]
            norms, drifts, drift = [], [], 0.0
            for n in range(steps):
                (re, im), (next_re, next_im) = states[n], states[n + 1]
                norms.append((im**2 + re * next_re).sum())
                error = [UNIT[precision] * t.roundings() + t.given for t in model.step([Terms(np.abs(f)) for f in states[n]], n)]
                drifts.append(drift + (np.abs(re) * error[0]).sum())  # re(n + 1) is rounded, too
                drift += (np.abs(2 * next_re + model.dt * model.hamiltonian(next_im)) * error[0]
                          + np.abs(2 * next_im + model.dt * model.hamiltonian(next_re)) * error[1]).sum()
            for n, norm in enumerate(norms):
                self.assertLessEqual(abs(norm - norms[0]), 1.01 * (drifts[n] + drifts[0]) + 1e3 * UNIT["fp64"] * norms[0], f"step {n}")
            self.assertLess(drift / norms[0], {"fp64": 1e-10, "fp32": 0.1}[precision])
            self.assertGreater(max(abs((re**2 + im**2).sum() / norms[0] - 1) for re, im in states), 1e-3)  # the plain norm is not kept

    def test_vortices_of_lattice_boltzmann_decay_by_their_viscosity(self):
        """The flow keeps its shape and decays as exp(-nu K^2 t). The lattice is not fine and the flow not slow against sound,
        which the rate feels to the order of K^2 and of 3 U^2; the first steps, in which sound begins, are left out."""
        n, U = 32, 0.05
        K = 2 * np.pi / n
        model = models.LatticeBoltzmann(**{"grid.shape": [n, n], "constants.U": U, "constants.K": K})
        first, last = 200, 400
        found = spsolve.snapshots(self.solve(model, "fp64", "vortices", every=200, steps=last))
        amplitudes = [[2 * (u * wave).mean() for u, wave in zip(model.velocity(fields_of(found[step], model.fields)),
                                                                (model.wave_x, model.wave_y))] for step in (first, last)]
        for early, late in zip(*amplitudes):
            rate = np.log(early / late) / (last - first)
            self.assertLess(abs(rate / ((model["tau"] - 0.5) / 3 * K**2) - 1), K**2 + 3 * U**2)
        density = [np.sum(fields_of(found[step], model.fields)) for step in (0, last)]
        self.assertAlmostEqual(density[1] / density[0], 1, delta=9 * last * OPERATIONS * UNIT["fp64"])

    def test_front_of_fisher_and_kpp_has_its_speed(self):
        """From t1 to t2 the front moves at v - 3 log(t2 / t1) / (2 k (t2 - t1)), and faster than that by less than the next
        term of the series (U. Ebert, W. van Saarloos, Physica D 146 (2000) 1). v = min s(k) / k is the speed of the scheme
        itself: a wave exp(-k x) grows at the rate s(k)."""
        model = models.FisherKpp(**{"grid.shape": [400], "grid.origin": [0.0]})
        h, dt = model.h[0], model.dt
        k = np.linspace(0.5, 1.5, 100001)
        s = np.log(1 + dt * (model["r"] + 2 * model["D"] * (np.cosh(k * h) - 1) / h**2)) / dt
        best = np.argmin(s / k)
        v, k0 = (s / k)[best], k[best]
        spread = np.gradient(np.gradient(s, k), k)[best] / 2
        self.assertLess(abs(v / (2 * np.sqrt(model["r"] * model["D"])) - 1), 0.05)  # the steps are small enough
        t1, t2 = 20.0, 80.0
        slowest = v - 1.5 / k0 * np.log(t2 / t1) / (t2 - t1)
        fastest = slowest + 3 * np.sqrt(np.pi) / (k0**2 * np.sqrt(spread)) * (t1**-0.5 - t2**-0.5) / (t2 - t1)
        for precision in UNIT:
            rows = {row["time"]: row for row in spsolve.diagnostics(self.solve(model, precision, precision, every=400, steps=1600))}
            speed = (rows[t2]["mean"] - rows[t1]["mean"]) * model.shape[0] * h / (t2 - t1)
            self.assertGreater(speed, slowest)
            self.assertLess(speed, fastest)


for Model in models.MODELS:
    setattr(Equations, f"test_model_of_{Model.name}", lambda self, Model=Model: self.check_model(Model()))

if __name__ == "__main__":
    unittest.main()
