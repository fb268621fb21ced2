# SPDX-License-Identifier: Apache-2.0
"""Inputs that the package writes are TOML that reads back as it was, with arrays in their datasets."""
import tomllib
import unittest

import h5py
import numpy as np
import support

import spsolve
from spsolve import toml_text


class Toml(unittest.TestCase):
    def test_reads_back_as_it_was(self):
        sections = {
            "grid": {"shape": [3, 4], "spacing": [1e-30, 0.1], "origin": [-0.0, 2.0**60]},
            "boundary": {"x": {"low": {"dirichlet": 1.5}, "high": "neumann"}, "u": {"y": "periodic"}},
            "constants": {"D": 1, "größe": 1.0e300, "a b": True},
            "fields": {"v": {"initial": 'say "x"\\\t\x01\x7f'}, "u": {}},
            "equations": {"step": "\n  a = u # '''\n  u.next = a\n'"},
            "stencils": {"w": {"weights": [[0.5, 0.25], [0.125, 1 / 3]]}},
            "diagnostics": {"sums": {"mass": "u"}},
            "outputs": [{"name": "a", "region": {"x": [1.0, 2.0]}}, {"name": "b"}],
        }
        again = tomllib.loads(toml_text.document(sections))
        self.assertEqual(again, sections)
        self.assertEqual(list(again["fields"]), ["v", "u"])  # their order is that of files

    def test_statements_stay_readable(self):
        text = "\n  a = u\n  u.next = 'a'*2\n"
        written = toml_text.document({"equations": {"step": text}})
        self.assertIn("\n  u.next = 'a'*2\n", written)
        self.assertEqual(tomllib.loads(written)["equations"]["step"], text)

    def test_numbers_of_numpy(self):
        item = {"a": np.float32(0.5), "b": np.int64(-3), "c": np.bool_(True), "d": np.array(2.5), "e": np.arange(3), "f": (1, 2.0), "none": None}
        self.assertEqual(tomllib.loads(toml_text.document({"s": item}))["s"],
                         {"a": 0.5, "b": -3, "c": True, "d": 2.5, "e": [0, 1, 2], "f": [1, 2.0]})

    def test_what_toml_cannot_hold(self):
        for item in (1j, b"bytes", {1, 2}, object()):
            with self.assertRaisesRegex(TypeError, "an input cannot hold"):
                toml_text.document({"s": {"a": item}})


class Arrays(support.TestCase):
    def written(self, problem):
        file = problem.write(self.directory / "in")
        return tomllib.loads(file.read_text()), file

    def test_each_place_that_takes_a_dataset(self):
        a = np.arange(12.0).reshape(3, 4)
        problem = spsolve.Problem(
            name="all", grid={"shape": a.shape}, fields={"u": {"initial": a, "previous": a + 1}}, coefficients={"c": a[::-1], "D": 2.0, "k": "x"},
            initial=a + 2, source=a.T.astype("f4").T, stencil={"weights": a[:3, :3], "center": [1, 0]}, stencils={"w": {"weights": a}},
            point_sources=[{"at": [1.0, 2.0], "value": np.arange(5)}, {"at": a[:, :2], "value": "t"}], probes=[{"name": "p", "at": np.array([1, 2])}])
        read, file = self.written(problem)
        self.assertEqual(file, self.directory / "in" / "all.toml")

        def stored(place):
            self.assertEqual(place["file"], "all.arrays.h5")
            with h5py.File(file.parent / place["file"]) as opened:
                return opened[place["dataset"]][()], dict(opened[place["dataset"]].attrs)

        for place, wanted in ((read["fields"]["u"]["initial"], a), (read["fields"]["u"]["previous"], a + 1), (read["coefficients"]["c"], a[::-1]),
                              (read["initial"], a + 2), (read["source"], a.astype("f4")), (read["stencils"]["w"], a),
                              (read["point_sources"][0]["value"], np.arange(5)), (read["point_sources"][1]["at"], a[:, :2]),
                              (read["probes"][0]["at"], np.array([[1, 2]]))):
            found, _ = stored(place)
            self.assertEqual((found.dtype, found.shape), (wanted.dtype, wanted.shape))
            np.testing.assert_array_equal(found, wanted)
        weights, attributes = stored(read["stencil"])
        np.testing.assert_array_equal(weights, a[:3, :3])
        self.assertEqual(list(attributes["center"]), [1, 0])
        self.assertEqual((read["coefficients"]["D"], read["coefficients"]["k"], read["point_sources"][0]["at"]), (2.0, "x", [1.0, 2.0]))
        self.assertIs(problem.sections["initial"].base, None)  # the problem still has its arrays

    def test_walls(self):
        a = np.arange(12.0).reshape(3, 4)
        read, file = self.written(spsolve.Problem(
            grid={"shape": [3, 4, 5]},
            boundary={"x": {"dirichlet": a}, "y": {"low": {"flux": 2.0}, "high": {"robin": {"h": 1.0, "value": a + 1}}}, "u": {"z": {"value": a + 2}}}))
        walls = read["boundary"]
        self.assertEqual((walls["y"]["low"], walls["y"]["high"]["robin"]["h"]), ({"flux": 2.0}, 1.0))
        with h5py.File(file.parent / "problem.arrays.h5") as opened:
            for place, wanted in ((walls["x"]["dirichlet"], a), (walls["y"]["high"]["robin"]["value"], a + 1), (walls["u"]["z"]["value"], a + 2)):
                np.testing.assert_array_equal(opened[place["dataset"]], wanted)

    def test_small_arrays_elsewhere_are_lists(self):
        read, file = self.written(spsolve.Problem(grid={"shape": np.array([3, 4]), "spacing": np.full(2, 0.5)}))
        self.assertEqual(read["grid"], {"shape": [3, 4], "spacing": [0.5, 0.5]})
        self.assertFalse((file.parent / "problem.arrays.h5").exists())

    def test_points_of_1d_grids(self):
        read, file = self.written(spsolve.Problem(grid={"shape": [9]}, probes=[{"name": "p", "at": np.array([1.0, 2.0, 3.0])}]))
        with h5py.File(file.parent / "problem.arrays.h5") as opened:
            self.assertEqual(opened[read["probes"][0]["at"]["dataset"]].shape, (3, 1))

    def test_one_point_or_points_of_another_shape(self):
        for at, shape in ((np.array([1.0, 2.0]), (1, 2)), (np.arange(4.0), (4,)), (np.zeros((5, 3)), (5, 3))):  # the program refuses the last two
            read, file = self.written(spsolve.Problem(grid={"shape": [9, 9]}, probes=[{"name": "p", "at": at}]))
            with h5py.File(file.parent / "problem.arrays.h5") as opened:
                self.assertEqual(opened[read["probes"][0]["at"]["dataset"]].shape, shape)

    @support.needs_xarray
    def test_arrays_of_xarray(self):
        import xarray
        values = np.arange(6.0).reshape(2, 3)
        read, file = self.written(spsolve.Problem(coefficients={"c": xarray.DataArray(values, dims=("y", "x"))}))
        with h5py.File(file.parent / "problem.arrays.h5") as opened:
            np.testing.assert_array_equal(opened[read["coefficients"]["c"]["dataset"]], values)

    def test_refuses_what_is_no_number(self):
        for array in (np.array([1j]), np.array(["a"]), np.array([None])):
            with self.assertRaisesRegex(TypeError, r"coefficients\.c is an array of .*; wanted real numbers"):
                spsolve.Problem(coefficients={"c": array}).write(self.directory)

    def test_refuses_what_a_mask_hides(self):
        values = np.ma.masked_greater(np.array([[1.0, 9.96921e36]]), 1e30)  # as netCDF4 returns missing values
        for place in ({"coefficients": {"c": values}}, {"grid": {"spacing": values[0]}}):
            with self.assertRaisesRegex(ValueError, "has masked values; wanted a number everywhere"):
                spsolve.Problem(place).write(self.directory)
        values.mask = False
        spsolve.Problem(coefficients={"c": values}).write(self.directory)

    def test_makes_no_directory_that_a_shell_would_call_otherwise(self):
        for name in ("~/out", "$SCRATCH/out", "${SCRATCH}/out", self.directory / "$USER"):
            for act in (lambda name: spsolve.Problem().write(name),
                        lambda name: spsolve.Problem(output={"directory": name}).run(executable=support.EXECUTABLE)):
                with self.assertRaisesRegex(ValueError, "only shells expand"):
                    act(name)
        self.assertEqual(list(self.directory.iterdir()), [])
        spsolve.Problem().write("a~b$1")

    def test_sections_as_a_dictionary_and_as_keywords(self):
        problem = spsolve.Problem({"name": "a", "grid": {"shape": [3]}, "time": {"steps": 1}}, time={"steps": 2})
        self.assertEqual((problem.name, problem.sections), ("a", {"grid": {"shape": [3]}, "time": {"steps": 2}}))
        with self.assertRaises(TypeError):
            spsolve.Problem(gird={"shape": [3]})
        with self.assertRaisesRegex(ValueError, "wanted a name of a file"):
            spsolve.Problem(name="a/b")

    def test_relative_files_stay_where_they_are(self):
        read, _ = self.written(spsolve.Problem(initial={"file": "here.h5", "dataset": "/u"}))
        self.assertEqual(read["initial"], {"file": str(self.directory / "here.h5"), "dataset": "/u"})

    def test_reads_what_editors_of_windows_write(self):
        (self.directory / "heat.toml").write_bytes(b"\xef\xbb\xbf[grid]\r\nshape = [3]\r\n")
        self.assertEqual(spsolve.Problem.read("heat.toml").sections, {"grid": {"shape": [3]}})

    def test_reads_every_example(self):
        for file in sorted((support.SOURCE / "inputs").glob("*.toml")):
            with self.subTest(file.name):
                problem = spsolve.Problem.read(file)
                expected = tomllib.loads(file.read_text())
                self.assertEqual(problem.name, expected.pop("name", file.stem))
                again, _ = self.written(problem)
                for place in (again.get("initial"), again.get("source"), again.get("stencil"), *again.get("coefficients", {}).values()):
                    if isinstance(place, dict) and "file" in place:
                        place["file"] = str(support.pathlib.Path(place["file"]).relative_to(file.parent))
                self.assertEqual(again, expected)


if __name__ == "__main__":
    unittest.main()
