# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of docs/guide/python.md as they stand there."""
import os
import pathlib
import re
import unittest
from unittest import mock

import numpy as np
import support
from support import needs_xarray, values

GUIDE = support.SOURCE / "docs" / "guide" / "python.md"


@needs_xarray
class Guide(support.TestCase):
    def test_examples(self):
        blocks = re.findall(r"<!-- tested: .*? -->\n```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
        self.assertEqual(len(blocks), 2)
        self.assertEqual(len(blocks[0].splitlines()), 10, "the guide calls them ten lines")
        path = f"{pathlib.Path(support.EXECUTABLE).parent}:{pathlib.Path(support.MPIEXEC).parent}:{os.environ['PATH']}"
        names = {}
        with mock.patch.dict(os.environ, {"PATH": path, "OMP_NUM_THREADS": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}):
            for block in blocks:
                exec(compile(block, str(GUIDE), "exec"), names)
        p, echo = names["p"], names["echo"]
        self.assertEqual(p.dims, ("time", "y", "x"))
        np.testing.assert_array_equal(p.sel(time=0.4), values("out/shot", 400, "p"))
        # Without the lower layer there is no echo. The difference is the echo, whose peak has run down to the layer, which
        # begins 700 + 100 sin(1000/300) = 681 m deep, and back. Half a period is left to the shapes of wavelet and layer.
        names["shot"].sections["coefficients"]["c"] = 1500.0
        without = self.run_problem(names["shot"], "without").probes["surface"].p
        np.testing.assert_array_equal(echo.y, 0.0)
        difference = abs(echo - without).isel(point=100).values
        self.assertAlmostEqual(echo.time.values[difference.argmax()], 0.1 + (2 * 681.0 - 50.0) / 1500.0, delta=0.5 / 12.0)


if __name__ == "__main__":
    unittest.main()
