# SPDX-License-Identifier: Apache-2.0
"""The documentation runs: every file of inputs/, its shape and its steps reduced."""
import tomllib
import unittest

import h5py
import numpy as np

import spsolve


class Inputs(spsolve.TestCase):
    def test_every_input(self):
        files = spsolve.inputs(self.directory / "inputs")
        self.assertGreaterEqual({path.stem for path in files}, {"heat3d", "heat2d", "advection1d", "mixed_walls", "weights_from_hdf5"})
        for path in files:
            with self.subTest(path.name):
                self.assertIn("the input is valid", self.run_to(0, "check", path).out)
                self.assertRegex(self.run_to(0, "plan", path).out, "steps? per launch")
                result = self.run_to(0, path, *spsolve.shortened(path, 3, 40), "--output", path.stem, ranks=2)
                self.assertIn("finished 3 steps", result.out)
                # A source or ball may lie outside the reduced grid.
                warnings = [line for line in result.err.splitlines() if "are zero everywhere" not in line]
                self.assertEqual(warnings, [])
                found = spsolve.snapshots(self.directory / path.stem)
                with h5py.File(found[3]) as file:
                    for name in tomllib.loads(path.read_text()).get("fields", ["u"]):
                        self.assertTrue(np.isfinite(file[name][()]).all(), name)
                self.run_to(0, "info", found[3])


if __name__ == "__main__":
    unittest.main()
