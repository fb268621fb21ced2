# SPDX-License-Identifier: Apache-2.0
"""bench/fit.py finds shipped coefficients again from the records that they were fitted to."""
import collections
import json
import math
import os
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(os.environ["SPSOLVE_SOURCE"])
sys.path.insert(0, str(SOURCE / "bench"))
import fit  # noqa: E402  (it lies beside the modules that it imports)
import rows  # noqa: E402


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


class Meanings(unittest.TestCase):
    """The calibration can be read entry by entry, and every group says where its values come from."""

    groups = json.loads((SOURCE / "calibration" / "h200.json").read_text())["groups"]

    def test_no_meaning_needs_another_entry(self):
        needs_another = re.compile(r"(the same|of|less of|more of|that|times that|an? \w+ of it)\b", re.IGNORECASE)
        for group in self.groups:
            for row in (group, *group["coefficients"]):
                self.assertIsNone(needs_another.match(row["means"]), f"{group['group']}.{row.get('name', '')}: {row['means']}")

    def test_every_group_names_a_fit_or_what_its_values_were_read_off(self):
        for group in self.groups:
            with self.subTest(group["group"]):
                self.assertRegex(group["again"], rf"bench/fit\.py (bench/results/\S+ )+--coefficients {group['group']}\.|were read off")
                for record in re.findall(r"[\w-]+\.json:[\w,*-]*[\w*]", group["again"]):
                    self.assertTrue(rows.runs_of(SOURCE / "bench" / "results" / record), record)


class TilesOfSystems(unittest.TestCase):
    """The model of several steps per launch knows the rates of both cards, and which tiles are fast."""

    def model_of(self, *records):
        model = fit.Model(os.environ["SPSOLVE_PREDICT"], [SOURCE / "bench" / "results" / name for name in records])
        self.addCleanup(model.close)
        return model

    def test_rates_are_right_within_a_quarter(self):
        model = self.model_of("systems-h100.json:turns-and-zeros", "systems-h200.json:turns-and-zeros")
        residuals = model.residuals({})
        self.assertGreater(len(residuals), 50)
        far = [f"{row['stencil']} {row['precision']} {row['walls']} {row['fuse']}: {math.exp(residual):.2f}"
               for row, residual in zip(model.rows, residuals) if abs(residual) > math.log(1.25)]
        self.assertLessEqual(len(far), 0.05 * len(residuals), far)

    def test_the_fastest_tile_in_the_model_is_nearly_the_fastest(self):
        """Of tiles that were measured side by side, by an earlier version of the kernel."""
        model = self.model_of("systems-h100.json:fewer-operations,fewer-operations-3d")
        cases = collections.defaultdict(list)
        for row, residual in zip(model.rows, model.residuals({})):
            cases[row["stencil"], row["precision"], row["walls"], *row["shape"]].append((row["rate"] * math.exp(residual), row["rate"]))
        shares = {case: max(tiles)[1] / max(rate for _, rate in tiles) for case, tiles in cases.items() if len(tiles) > 1}
        self.assertGreater(len(shares), 20)
        self.assertGreaterEqual(min(shares.values()), 0.8, shares)
        self.assertGreaterEqual(sum(share >= 0.95 for share in shares.values()), 0.8 * len(shares), shares)


if __name__ == "__main__":
    unittest.main()
