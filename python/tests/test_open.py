# SPDX-License-Identifier: Apache-2.0
"""Compares what open() returns with what h5py reads."""
import pathlib
import subprocess
import sys
import unittest
from unittest import mock

import h5py
import numpy as np
import support
from support import needs_xarray, values

import spsolve

SHAPES = {1: [23], 2: [7, 12], 3: [5, 6, 9]}
SPACING = [0.5, 0.25, 2.0]
ORIGIN = [1.0, -2.0, 3.0]


def doubling(dimensions, **sections):
    """Takes three steps that double every value; a value says where it is."""
    weights = np.full((1,) * dimensions, 2.0).tolist()
    formula = " + ".join(f"{100**power}*{axis}" for power, axis in enumerate("xyz"[:dimensions]))
    return spsolve.Problem({
        "name": "größe", "grid": {"shape": SHAPES[dimensions], "spacing": SPACING[-dimensions:], "origin": ORIGIN[-dimensions:]},
        "stencil": {"weights": weights}, "initial": {"expression": formula}, "time": {"steps": 3, "dt": 0.125}, "output": {"every": 2}, **sections})


def coordinates(dimensions, stride=1):
    """Points have coordinates along each axis, slowest first."""
    return [o + h * np.arange(0, n, stride) for o, h, n in zip(ORIGIN[-dimensions:], SPACING[-dimensions:], SHAPES[dimensions])]


@needs_xarray
class Open(support.TestCase):
    def test_snapshots_have_coordinates(self):
        for dimensions in SHAPES:
            for stride in (1, 2, 4):
                with self.subTest(dimensions=dimensions, stride=stride):
                    result = self.run_problem(doubling(dimensions, output={"every": 2, "stride": stride}), "d", overwrite=True, ranks=2)
                    dataset = spsolve.open(result.directory / "snapshot_0000000003.hdf")
                    self.assertEqual(dataset.u.dims, tuple("zyx"[-dimensions:]))
                    for axis, wanted in zip("zyx"[-dimensions:], coordinates(dimensions, stride)):
                        np.testing.assert_array_equal(dataset[axis], wanted)
                    self.assertEqual((float(dataset.time), int(dataset.step)), (0.375, 3))
                    self.assertEqual(dataset.attrs, {"name": "größe", "stride": stride})
                    np.testing.assert_array_equal(dataset.u, values("d", 3))
                    # What xarray knows of axes leads to the values that the formula has there.
                    formula = sum(100**power * dataset[axis] for power, axis in enumerate("xyz"[:dimensions]))
                    np.testing.assert_allclose(dataset.u, 8 * formula.transpose(*dataset.u.dims), rtol=8 * np.finfo(float).eps)

    def test_series_and_directories(self):
        result = self.run_problem(doubling(3))
        for path in (result.directory, result.directory / "snapshots.hdf.series"):
            dataset = spsolve.open(path)
            self.assertEqual(dataset.u.dims, ("time", "z", "y", "x"))
            np.testing.assert_array_equal(dataset.time, [0.0, 0.25, 0.375])
            np.testing.assert_array_equal(dataset.step, [0, 2, 3])
            np.testing.assert_array_equal(dataset.u, np.stack([values(result.directory, step) for step in (0, 2, 3)]))
        for damage in (lambda series: series.write_text('{"files": ['), pathlib.Path.unlink):
            damage(result.directory / "snapshots.hdf.series")
            np.testing.assert_array_equal(spsolve.open(result.directory).time, [0.0, 0.25, 0.375])
        self.assertTrue(result.snapshots.equals(dataset))

    def test_any_index(self):
        result = self.run_problem(doubling(3))
        whole = np.stack([values(result.directory, step) for step in (0, 2, 3)])
        of_time = (slice(None), 1, -1, slice(None, None, -1), [2, 0], [True, False, True], slice(3, 3), [])
        of_space = (slice(None), 0, -2, slice(1, None, 2), slice(None, None, -2), [3, 1, 1], [])
        for t in of_time:
            for s in of_space:
                for axis, other in ((1, slice(None)), (3, slice(2, 4))):
                    key = [t, other, other, other]
                    key[axis] = s
                    wanted = whole
                    for i in reversed(range(4)):  # each axis by itself, as xarray indexes
                        wanted = wanted[(slice(None),) * i + (key[i],)]
                    with self.subTest(key=key):
                        found = result.snapshots.u.isel(dict(zip(("time", "z", "y", "x"), key)))
                        np.testing.assert_array_equal(found, wanted)
        pointwise = result.snapshots.u.isel(z=support_points(2, 1), y=support_points(0, 5))
        np.testing.assert_array_equal(pointwise.transpose("time", "x", "point"), whole[:, [2, 1], [0, 5], :].transpose(0, 2, 1))

    def test_values_are_read_when_they_are_used(self):
        result = self.run_problem(doubling(2))
        dataset = result.snapshots
        opened = []
        original = h5py.File

        def watched(file, *arguments, **options):
            opened.append(pathlib.Path(file).name)
            return original(file, *arguments, **options)

        with mock.patch("h5py.File", watched):
            chosen = dataset.u.isel(time=1, x=slice(0, 2))
            self.assertEqual(opened, [])
            chosen.load()
        self.assertEqual(opened, ["snapshot_0000000002.hdf"])

    def test_streams(self):
        outputs = [{"name": "cut", "every": 1, "region": {"y": [-1.25, -1.25], "z": [1.5, 2.5]}}, {"name": "line", "region": {"x": [3, 3], "y": [-2, -2]}}]
        result = self.run_problem(doubling(3, outputs=outputs))
        z, y, x = coordinates(3)
        cut = result.stream("cut")
        self.assertEqual(cut.u.dims, ("time", "z", "x"))
        np.testing.assert_array_equal(cut.z, z[1:4])
        np.testing.assert_array_equal(cut.x, x)
        np.testing.assert_array_equal(cut.step, [0, 1, 2, 3])
        np.testing.assert_array_equal(cut.u.isel(time=3), values(result.directory, 3)[1:4, 3, :])
        self.assertTrue(spsolve.open(result.directory / "cut.hdf.series").equals(cut))
        line = result.stream("line")
        self.assertEqual(line.u.dims, ("time", "z"))
        np.testing.assert_array_equal(line.z, z)

    def test_fields(self):
        problem = spsolve.Problem(grid={"shape": [4, 6]}, fields={"v": {"initial": "x"}, "a": {"initial": "y"}}, equations={"step": "v.next = v; a.next = a"},
                                  time={"steps": 1}, output={"precision": "fp32"})
        dataset = self.run_problem(problem).snapshots
        self.assertEqual(set(dataset.data_vars), {"v", "a"})
        self.assertEqual(dataset.v.dtype, np.float32)
        np.testing.assert_array_equal(dataset.a.isel(time=0), np.mgrid[0:4, 0:6][0])

    def test_probes(self):
        at = np.array([[1.5, -1.0, 5.0], [3.0, -2.0, 3.0]])
        result = self.run_problem(doubling(3, probes=[{"name": "a", "at": at, "every": 2}, {"name": "b", "at": at[:1]}], output={"every": 1}))
        file = result.directory / "probes.h5"
        probes = spsolve.open(file, group="a")
        self.assertEqual(probes.u.dims, ("time", "point"))
        np.testing.assert_array_equal(np.stack([probes.z, probes.y, probes.x], -1), at)
        np.testing.assert_array_equal(probes.step, [0, 2])
        np.testing.assert_array_equal(probes.time, [0.0, 0.25])
        with h5py.File(file) as opened:
            np.testing.assert_array_equal(probes.u, opened["a/u"])
        index = tuple(int(np.argmin(np.abs(places - place))) for places, place in zip(coordinates(3), at[0]))
        self.assertEqual(float(probes.u[1, 0]), values(result.directory, 2)[index])
        self.assertEqual(list(result.probes), ["a", "b"])
        with self.assertRaisesRegex(ValueError, "several probes.*group='a' | 'b'"):
            spsolve.open(file)
        with self.assertRaisesRegex(ValueError, "no probes 'c'; there are 'a', 'b'"):
            spsolve.open(file, group="c")
        with h5py.File(file, "r+") as opened:  # as a run that goes on leaves it
            opened["b/step"][2:] = -1
            del opened["a"]
        self.assertEqual(spsolve.open(file).u.shape, (2, 1))
        with h5py.File(file, "r+") as opened:  # as a run leaves it that began at a checkpoint of another directory
            opened["b/step"][0] = -1
            wanted = opened["b/u"][1:2]
        later = spsolve.open(file)
        np.testing.assert_array_equal(later.step, [1])
        np.testing.assert_array_equal(later.time, [0.125])
        np.testing.assert_array_equal(later.u, wanted)
        with h5py.File(file, "r+") as opened:  # a gap, as where a later checkpoint was copied into the directory
            opened["b/step"][2:4] = [-1, 3]
        np.testing.assert_array_equal(spsolve.open(file).step, [1])
        self.assertEqual(self.run_problem(doubling(1), "none").probes, {})

    def test_axes_too_long_for_coordinates(self):
        points = 2**20 + 1
        problem = spsolve.Problem(grid={"shape": [points], "spacing": [0.5], "origin": [3.0]}, stencil={"weights": [1.0]}, initial={"expression": "x"},
                                  time={"steps": 0}, output={"stride": 1})
        result = self.run_problem(problem)
        with h5py.File(result.directory / "snapshot_0000000000.hdf") as file:
            self.assertNotIn("x", file)
        dataset = result.snapshots
        np.testing.assert_array_equal(dataset.x, 3.0 + 0.5 * np.arange(points))
        np.testing.assert_array_equal(dataset.u[0], dataset.x)

    def test_other_files(self):
        pathlib.Path("text.txt").write_text("no HDF5")
        with h5py.File("other.h5", "w") as file:
            file["u"] = 1.0
        result = self.run_problem(doubling(1, checkpoint={"final": True}))
        for path, kind, message in (("none.hdf", FileNotFoundError, "no such file"), ("text.txt", ValueError, "no HDF5 file"),
                                    ("other.h5", ValueError, "not written by spsolve"), (".", FileNotFoundError, r"holds no snapshots \(snapshot_<step>.hdf\)"),
                                    (result.directory / "checkpoint_0000000003.h5", ValueError, "is 'spsolve checkpoint'; wanted a snapshot")):
            with self.subTest(path), self.assertRaisesRegex(kind, message):
                spsolve.open(path)


def support_points(*indices):
    import xarray
    return xarray.DataArray(list(indices), dims="point")


class Xarray(support.TestCase):
    def test_is_named_where_it_is_missing(self):
        script = "import sys; sys.modules['xarray'] = None; import spsolve\ntry: spsolve.open('.')\nexcept ImportError as error: print(error)"
        result = subprocess.run([sys.executable, "-B", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {script}"], capture_output=True, text=True)
        self.assertIn("needs xarray: apt install python3-xarray, or pip install xarray", result.stdout, result.stderr)

    def test_scales_are_those_of_h5py(self):
        result = self.run_problem(doubling(3))
        with h5py.File(result.directory / "snapshot_0000000003.hdf") as file:
            for i, (axis, wanted) in enumerate(zip("zyx", coordinates(3))):
                self.assertEqual(file["u"].dims[i][0], file[axis])
                np.testing.assert_array_equal(file[axis], wanted)

    @needs_xarray
    def test_opens_snapshots_by_itself(self):
        """The readers of netCDF in xarray know the scales, too."""
        import xarray
        result = self.run_problem(doubling(2))
        engines = [engine for engine in ("netcdf4", "h5netcdf") if engine in xarray.backends.list_engines()]
        if not engines:
            self.skipTest("xarray has no reader of netCDF files (python3-netcdf4, python3-h5netcdf)")
        for engine in engines:
            with self.subTest(engine), xarray.open_dataset(result.directory / "snapshot_0000000003.hdf", engine=engine) as dataset:
                self.assertEqual(dataset.u.dims, ("y", "x"))
                np.testing.assert_array_equal(dataset.x, coordinates(2)[1])
                np.testing.assert_array_equal(dataset.u, values(result.directory, 3))


if __name__ == "__main__":
    unittest.main()
