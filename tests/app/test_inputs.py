# SPDX-License-Identifier: Apache-2.0
"""The documentation runs: every file of inputs/, its shape and its steps reduced."""
import os
import pathlib
import re
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
                warnings = [line for line in result.err.splitlines() if "are zero everywhere" not in line and "which is zero in fp32" not in line]
                self.assertEqual(warnings, [])
                found = spsolve.snapshots(self.directory / path.stem)
                with h5py.File(found[3]) as file:
                    for name in tomllib.loads(path.read_text()).get("fields", ["u"]):
                        self.assertTrue(np.isfinite(file[name][()]).all(), name)
                self.run_to(0, "info", found[3])

    def test_sound_of_the_first_run(self):
        text = (pathlib.Path(os.environ["SPSOLVE_SOURCE"]) / "docs/guide/first-run.md").read_text()
        path = self.directory / "sound.toml"
        (sound,) = [block for block in re.findall(r"```toml\n(.*?)```", text, re.DOTALL) if "microphone" in block]
        path.write_text(sound)
        result = self.run_to(0, path, ranks=2)
        self.assertIn("finished 1000 steps", result.out)
        self.assertEqual(result.err, "")
        with h5py.File(self.directory / "out" / "sound" / "probes.h5") as file:
            heard = file["microphone/p"][:, 0]
        # Sound arrives after its way of 2.5 m; the ball is 0.3 m wide, and at 3 widths exp(-18) of it is
        # left.
        time_step, way, width, speed = 2e-5, 2.5, 0.3, 343
        arrival = np.flatnonzero(np.abs(heard) > 1e-2 * np.abs(heard).max())[0] * time_step
        self.assertGreater(arrival, (way - width) / speed)
        self.assertLess(arrival, way / (speed - 10))


if __name__ == "__main__":
    unittest.main()
