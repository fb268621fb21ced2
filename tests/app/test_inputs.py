# SPDX-License-Identifier: Apache-2.0
"""The documentation runs: every file of inputs/, its shape and its steps reduced."""
import shutil
import subprocess
import sys
import tomllib
import unittest

import numpy as np

import spsolve


class Inputs(spsolve.TestCase):
    def test_every_input(self):
        inputs = self.directory / "inputs"
        shutil.copytree(spsolve.SOURCE / "inputs", inputs)
        for script in inputs.glob("make_*.py"):
            subprocess.run([sys.executable, script], check=True, capture_output=True)
        files = sorted(inputs.glob("*.toml"))
        self.assertGreaterEqual({path.stem for path in files}, {"heat3d", "heat2d", "advection1d", "mixed_walls", "weights_from_hdf5"})
        for path in files:
            with self.subTest(path.name):
                sections = tomllib.loads(path.read_text())
                self.assertIn("the input is valid", self.run_to(0, "check", path).out)
                self.assertIn("steps per launch", self.run_to(0, "plan", path).out)
                shorter = ["--set", f"time.end={3 * sections['stencil']['dt']}" if "end" in sections["time"] else "time.steps=3"]
                if "file" not in sections["initial"]:
                    shorter += ["--set", f"grid.shape={[min(n, 40) for n in sections['grid']['shape']]}"]
                result = self.run_to(0, path, *shorter, "--output", path.stem, ranks=2)
                self.assertIn("finished 3 steps", result.out)
                self.assertEqual(result.err, "")
                found = spsolve.snapshots(self.directory / path.stem)
                self.assertTrue(np.isfinite(spsolve.values(found[3])).all())
                self.run_to(0, "info", found[3])


if __name__ == "__main__":
    unittest.main()
