# SPDX-License-Identifier: Apache-2.0
"""bench/fit.py finds shipped coefficients again from the records that they were fitted to."""
import json
import math
import os
import pathlib
import sys
import unittest

SOURCE = pathlib.Path(os.environ["SPSOLVE_SOURCE"])
sys.path.insert(0, str(SOURCE / "bench"))
import fit  # noqa: E402  (it lies beside the modules that it imports)


class Fit(unittest.TestCase):
    # The uncertainty is a quarter, the tolerance of the model for rates (tests/solver/plan/test_plan.cpp): no
    # coefficient that decides rates may be further off.
    def test_finds_shipped_coefficients_within_their_uncertainty(self):
        groups = json.loads((SOURCE / "calibration" / "h200.json").read_text())["groups"]
        uncertain = {f"{group['group']}.{row['name']}": row["uncertainty"]
                     for group in groups for row in group["coefficients"] if "uncertainty" in row}
        self.assertGreater(len(uncertain), 12)
        model = fit.Model(os.environ["SPSOLVE_PREDICT"], [SOURCE / "bench" / "results" / name for name in fit.RECORDS])
        self.addCleanup(model.close)
        found, before, after = fit.fit(model, set(uncertain), steps=2)
        self.assertLessEqual(after, before)
        for name, (value, deviation) in found.items():
            moved = abs(math.log(value / fit.shipped()[name]))
            self.assertLessEqual(moved, uncertain[name], f"{name}: {value} +- {100 * deviation:.0f}%")

    def test_a_wrong_coefficient_is_noticed(self):
        """From a start twice as large the fit must return to the shipped value, so the records determine it."""
        model = fit.Model(os.environ["SPSOLVE_PREDICT"], [SOURCE / "bench" / "results" / name for name in fit.RECORDS])
        self.addCleanup(model.close)
        right = model.residuals({})
        wrong = model.residuals({"rates.bandwidth": fit.shipped()["rates.bandwidth"] / 2})
        self.assertGreater((wrong**2).mean(), 4 * (right**2).mean())


if __name__ == "__main__":
    unittest.main()
