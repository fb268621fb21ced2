# SPDX-License-Identifier: Apache-2.0
"""What helps to write an input: spsolve new, spsolve keys, extents, sources that are rates."""
import re
import tomllib
import unittest

import h5py
import numpy as np

import spsolve

KINDS = ("heat", "waves", "reaction", "advection")
BASE = {
    "grid": {"shape": [8], "extent": [1.0]},
    "boundary": {"x": {"low": {"dirichlet": 0.0}, "high": {"dirichlet": 0.0}}},
    "stencil": {"weights": [0.0, 1.0, 0.0]},
    "initial": {"expression": "x + 100*dt"},
    "time": {"steps": 3, "dt": 0.125},
    "output": {"directory": "out"},
}


class New(spsolve.TestCase):
    def test_every_kind_runs_as_it_is_written(self):
        for kind in KINDS:
            with self.subTest(kind):
                said = self.run_to(0, "new", kind).out
                self.assertIn(f"spsolve {kind}.toml", said)
                self.assertIn("the input is valid", self.run_to(0, "check", f"{kind}.toml").out)
                result = self.run_to(0, f"{kind}.toml", "--set", "time.steps=20" if kind == "reaction" else "time.end=0.1")
                self.assertIn("finished", result.out)
                self.assertNotIn("warning", result.err)

    def test_files_are_not_replaced(self):
        text = self.run_to(0, "new", "heat", "-").out
        self.assertEqual(self.run_to(0, "new", "heat", "/dev/stdout").out, text)
        self.run_to(0, "new", "heat", "mine.toml")
        self.assertEqual((self.directory / "mine.toml").read_text(), text)
        self.assertIn("mine.toml: there is a file of this name", self.run_to(2, "new", "waves", "mine.toml").err)
        self.assertEqual((self.directory / "mine.toml").read_text(), text)
        self.assertIn("KIND", self.run_to(2, "new", "magic").err)


class Keys(spsolve.TestCase):
    def test_a_key_a_section_and_all(self):
        key = self.run_to(0, "keys", "time.wall_limit_minutes").out
        for word in ("number", "unit: minutes", "range: > 0", "default: no limit", "wall_limit_minutes = 90"):
            self.assertIn(word, key)
        section = self.run_to(0, "keys", "time").out
        self.assertIn(key, section)
        self.assertIn(section.partition("\n\n")[2], self.run_to(0, "keys").out)
        self.assertIn("[boundary.<axis>.robin] h", self.run_to(0, "keys", "boundary.x.low.robin").out)
        self.assertRegex(self.run_to(2, "keys", "time.stepps").err, "no key 'stepps'.*did you mean 'steps'")
        self.assertIn("'time.dt.unit': the key 'dt' has no keys below\n", self.run_to(2, "keys", "time.dt.unit").err)

    def test_a_table_of_a_list_may_have_its_number(self):
        self.assertEqual(self.run_to(0, "keys", "probes.12.at").out, self.run_to(0, "keys", "probes.at").out)
        self.assertEqual(self.run_to(0, "keys", "outputs.0").out, self.run_to(0, "keys", "outputs").out)
        self.assertIn("no key '0'", self.run_to(2, "keys", "grid.0").err)
        self.assertIn("no key ''", self.run_to(2, "keys", "probes..at").err)

    def test_unknown_keys_are_refused_from_the_same_table(self):
        for section in ("time", "output", "compute", "parallel"):
            with self.subTest(section):
                keys = re.findall(rf"^\[{section}\] (\w+):", self.run_to(0, "keys", section).out, re.MULTILINE)
                file = self.directory / "bad.toml"
                spsolve.write_input(file, {**BASE, section: {**BASE.get(section, {}), "nonsense": 1}})
                self.assertIn(f"valid keys: {', '.join(keys)}\n", self.run_to(2, "check", file).err)


class Examples(spsolve.TestCase):
    """The example of each key stands in an input, beside what its section needs."""

    def with_example(self, section, key, example, axes):
        """Returns the sections of an input with this number of axes."""
        given, at, path = tomllib.loads(example), [1.0] * axes, section.strip("[]").replace("<name>", "u").split(".")
        rows = {"point_sources": {"at": at, "value": 1.0}, "probes": {"name": "a", "at": at}, "outputs": {"name": "a"},
                "images": {"name": "a", "value": "u"}}
        sections = {"grid": {"shape": [8] * axes}, "fields": {"u": {}}, "equations": {"step": "u.next = u"}, "time": {"steps": 4, "dt": 0.1}}
        stencil = {"grid": sections["grid"], "stencil": {"preset": "heat", "diffusivity": 0.01, "dt": 0.1},
                   "initial": {"expression": "x"}, "time": {"steps": 4}}
        if path[0] in rows:
            return {**sections, path[0]: [{**rows[path[0]], **({path[1]: given} if path[1:] else given)}]}
        if path == ["boundary"]:
            return {**sections, "boundary": {"x": "neumann", **given}}
        if path[0] == "boundary":
            face = {"low": "neumann", "high": "neumann", **given} if key in ("low", "high") else given
            return {**sections, "boundary": {"x": {"robin": {"h": 1.0, "value": 0.0, **given}} if path[-1] == "robin" else face}}
        if section == "{ file, dataset }":
            return {**sections, "coefficients": {"c": {"file": "model.h5", "dataset": "/velocity", **given}}}
        if path[0] in ("stencil", "initial", "source", "compute"):
            beside = {"file": {"dataset": "/s"}, "dataset": {"file": "model.h5"}, "weights": {}, "center": {"weights": [[0.1] * 3] * 3},
                      "radius": {"preset": "box-filter"}, "preset": stencil["stencil"], "rate": {"expression": "x"},
                      "velocity": {"preset": "advection-diffusion", "diffusivity": 0.01, "dt": 0.1}}
            return {**stencil, path[0]: {**beside.get(key, stencil.get(path[0], {}) if path[0] == "stencil" else {}), **given}}
        if key in ("end", "until_change"):
            return {**sections, "time": {"dt": 0.1, **({"steps": 4} if key != "end" else {}), **given}, "diagnostics": {"every": 2}}
        for name in reversed(path[1:]):
            given = {name: given}
        return {**sections, path[0]: {**sections.get(path[0], {}), **given}}

    def test_each_is_accepted(self):
        for name in ("model.h5", "weights.h5", "u.h5", "source.h5"):
            with h5py.File(self.directory / name, "w") as file:
                for dataset in ("velocity", "weights", "u", "s"):
                    file[dataset] = np.full((8, 8), 0.01)
        found = re.findall(r"^(\[.*?\]|\{.*?\}) (\S+): .*\n    .*\n    (.*)$", self.run_to(0, "keys").out, re.MULTILINE)
        self.assertGreater(len(found), 100)
        for section, key, example in found:
            with self.subTest(section, key=key):
                refused = []
                for axes in (2, 3, 1):
                    file = spsolve.write_input(self.directory / "case.toml", self.with_example(section, key, example, axes))
                    result = spsolve.run("check", file, cwd=self.directory)
                    if result.status == 0:
                        break
                    refused.append(result.err)
                else:
                    self.fail(f"{example}: {refused[0]}")


class Values(spsolve.TestCase):
    def solve(self, **changes):
        """Returns the last state of a run on two ranks."""
        spsolve.write_input(self.directory / "case.toml", {**BASE, **changes})
        self.run_to(0, "case.toml", "--overwrite", ranks=2)
        with h5py.File(self.directory / "out/snapshot_0000000003.hdf") as file:
            return file["u"][()], file["x"][()]

    def test_points_lie_between_the_walls_and_formulas_know_dt(self):
        u, x = self.solve()
        np.testing.assert_allclose(x, np.arange(1, 9) / 9, rtol=4 * np.finfo(float).eps)
        np.testing.assert_allclose(u, x + 12.5, rtol=4 * np.finfo(float).eps)

    def test_rates_are_multiplied_by_dt(self):
        plain, _ = self.solve(source={"expression": "x + 8*dt"})
        rate, x = self.solve(source={"expression": "x + 8*dt", "rate": True})
        np.testing.assert_allclose(plain, 12.5 + x + 3 * (x + 1), rtol=1e-14)
        np.testing.assert_allclose(rate, 12.5 + x + 3 * 0.125 * (x + 1), rtol=1e-14)
        in_time, _ = self.solve(source={"expression": "x + 8*dt + 0*t", "rate": True})
        np.testing.assert_allclose(in_time, rate, rtol=1e-14)
        with h5py.File(self.directory / "s.h5", "w") as file:
            file["s"] = x + 1
        of_file, _ = self.solve(source={"file": "s.h5", "dataset": "s", "rate": True})
        np.testing.assert_allclose(of_file, rate, rtol=1e-14)

    def test_a_source_may_use_the_number_of_the_step_alone(self):
        u, x = self.solve(source={"expression": "step"})
        np.testing.assert_allclose(u, 12.5 + x + 3, rtol=1e-14)

    def test_inverse_hyperbolic_functions_keep_their_digits(self):
        for formula, wanted in (("asinh(-1e9 - x)", lambda x: np.arcsinh(-1e9 - x)), ("asinh(1e-12*x)", lambda x: np.arcsinh(1e-12 * x)),
                                ("atanh(1e-6*x)", lambda x: np.arctanh(1e-6 * x)), ("acosh(1 + 1e-9*x)", lambda x: np.arccosh(1 + 1e-9 * x)),
                                ("acosh(1e200*x)", lambda x: np.arccosh(1e200 * x))):
            with self.subTest(formula):
                u, x = self.solve(initial={"expression": formula})
                np.testing.assert_allclose(u, wanted(x), rtol=4 * np.finfo(float).eps)

    def test_errors_of_values_name_their_line(self):
        file = self.directory / "case.toml"
        probes = '\n[[probes]]\nname = "p"\nat = { file = "none.h5", dataset = "u" }\n'
        for changes, more, wanted in (({"initial": {"expression": "sqrt(-1-x)"}}, "", r"case.toml:\d+: \[initial\] expression 'sqrt\(-1-x\)' is -?nan at x"),
                                ({"initial": {"file": "none.h5", "dataset": "u"}}, "", r"case.toml:\d+: \[initial\] file: .*none.h5: No such file"),
                                ({}, probes, r"case.toml:\d+: \[probes.at\] file: .*none.h5: No such file")):
            with self.subTest(wanted):
                spsolve.write_input(file, {**BASE, **changes})
                file.write_text(file.read_text() + more)
                self.assertRegex(self.run_to(2, file).err, wanted)

    def test_errors_of_the_plan_name_their_line(self):
        file = self.directory / "case.toml"
        # Ghost points beyond a wall that changes in time are filled before every step.
        spsolve.write_input(file, {**BASE, "stencil": {"weights": [0.25, 0.5, 0.25]}, "boundary": {"x": {"value": "t"}}})
        text = file.read_text()
        for section, key, setting in (("compute", "unit", '"sparse-tensor"'), ("time", "fuse", "3")):
            with self.subTest(key):
                line = f"{key} = {setting}\n"
                changed = text.replace("[time]\n", f"[time]\n{line}") if section == "time" else f"{text}\n[{section}]\n{line}"
                file.write_text(changed)
                number = changed[:changed.index(line)].count("\n") + 1
                for verb in ([], ["check"], ["plan"]):
                    self.assertIn(f"case.toml:{number}: [{section}] {key} = {setting}: ", self.run_to(2, *verb, file).err)
                file.write_text(text)
                self.assertIn(f"--set {section}.{key}={setting}: [{section}] {key} = {setting}: ",
                              self.run_to(2, file, "--set", f"{section}.{key}={setting}").err)


if __name__ == "__main__":
    unittest.main()
