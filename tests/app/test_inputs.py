# SPDX-License-Identifier: Apache-2.0
"""The documentation runs: every file of inputs/, its shape and its steps reduced."""
import unittest

import numpy as np

import spsolve


class Inputs(spsolve.TestCase):
    def test_every_input(self):
        files = spsolve.inputs(self.directory / "inputs")
        self.assertGreaterEqual({path.stem for path in files}, {"heat3d", "heat2d", "advection1d", "mixed_walls", "weights_from_hdf5"})
        for path in files:
            with self.subTest(path.name):
                self.assertIn("the input is valid", self.run_to(0, "check", path).out)
                self.assertIn("steps per launch", self.run_to(0, "plan", path).out)
                result = self.run_to(0, path, *spsolve.shortened(path, 3, 40), "--output", path.stem, ranks=2)
                self.assertIn("finished 3 steps", result.out)
                # A part of the grid may have no source in it.
                self.assertEqual([line for line in result.err.splitlines() if "[source] are zero everywhere" not in line], [])
                found = spsolve.snapshots(self.directory / path.stem)
                self.assertTrue(np.isfinite(spsolve.values(found[3])).all())
                self.run_to(0, "info", found[3])


if __name__ == "__main__":
    unittest.main()
