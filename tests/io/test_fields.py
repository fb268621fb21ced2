# SPDX-License-Identifier: Apache-2.0
"""test_fields.py WRITE_FIELDS MPIEXEC...: a snapshot of two fields as h5py and VTK's reader see it."""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np

READER = pathlib.Path(__file__).parent.parent / "app" / "read_with_vtk.py"
FACTORS = {"v": 1.0, "u": -0.5}
writer = launcher = None


class Fields(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="spsolve_fields_")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def write(self, shape):
        subprocess.run([*launcher, writer, self.directory, *map(str, shape)], check=True)
        return self.directory / "snapshot_0000000001.hdf"

    def expected(self, shape, field):
        return FACTORS[field] * np.arange(np.prod(shape), dtype=float).reshape(shape)

    def test_h5py(self):
        for shape in ([23], [1], [7, 12], [7, 1], [5, 6, 9], [1, 6, 9], [5, 1, 1]):
            with self.subTest(shape), h5py.File(self.write(shape)) as file:
                self.assertEqual(sorted(file), ["VTKHDF", "u", "v", *sorted("zyx"[3 - len(shape):])])
                shown = file["VTKHDF/PointData"]
                self.assertEqual(sorted(shown), ["u", "v"])
                self.assertEqual(shown.attrs["Scalars"], b"v")
                for field in FACTORS:
                    self.assertTrue(np.array_equal(file[field], self.expected(shape, field)))
                    kept = tuple(n for n in shape if n > 1) or (1,)
                    self.assertTrue(np.array_equal(shown[field], self.expected(kept, field)))

    @unittest.skipIf(importlib.util.find_spec("vtkmodules") is None, "there is no VTK for Python")
    def test_vtk(self):
        for shape in ([5, 6, 9], [7, 12], [23]):
            path = self.write(shape)
            for field in FACTORS:
                with self.subTest(shape=shape, field=field):
                    values = self.directory / "values.npy"
                    result = subprocess.run([sys.executable, "-B", READER, path, str(len(shape)), values, field], capture_output=True, text=True)
                    if result.returncode == 77:
                        self.skipTest(result.stdout.strip())
                    self.assertEqual(result.returncode, 0, result.stderr)
                    image = json.loads(result.stdout)
                    self.assertEqual(sorted(image["arrays"]), ["u", "v"])
                    self.assertEqual(image["dimensions"], [*reversed(shape), *[1] * (3 - len(shape))])
                    self.assertTrue(np.array_equal(np.load(values).reshape(shape), self.expected(shape, field)))


if __name__ == "__main__":
    writer, *launcher = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
