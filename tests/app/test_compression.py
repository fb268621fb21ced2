# SPDX-License-Identifier: Apache-2.0
"""Compressed snapshots: h5py reads the same values, on any number of ranks the same bytes."""
import json
import unittest

import h5py
import numpy as np

import spsolve

ZSTD = 32015  # the number of the filter, https://github.com/HDFGroup/hdf5_plugins

def problem(shape, **output):
    return {"grid": {"shape": shape}, "stencil": {"preset": f"star{len(shape)}d1r"}, "initial": {"expression": "floor(x/3) + 0.25"},
            "time": {"steps": 2}, "output": {"directory": "out", "every": 1, **output}}


class Compression(spsolve.TestCase):
    def solve(self, case, ranks=None, directory="out", streams=""):
        file = self.directory / "case.toml"
        spsolve.write_input(file, case)
        file.write_text(file.read_text() + streams)
        self.run_to(0, "case.toml", "--output", directory, ranks=ranks)
        return self.directory / directory

    def test_values_and_bytes(self):
        for shape in ([50, 70], [3, 40, 50], [4000]):
            for precision in ("fp64", "fp32"):
                with self.subTest(shape=shape, precision=precision):
                    name = f"{len(shape)}{precision}"
                    plain = self.solve(problem(shape, precision=precision), directory=f"plain{name}")
                    packed = self.solve(problem(shape, precision=precision, compression="deflate"), directory=f"packed{name}")
                    again = self.solve(problem(shape, precision=precision, compression="deflate"), 3, f"again{name}")
                    for step, file in spsolve.snapshots(packed).items():
                        with h5py.File(file) as small, h5py.File(spsolve.snapshots(plain)[step]) as large:
                            self.assertEqual((small["u"].compression, small["u"].shuffle), ("gzip", True))
                            self.assertEqual(small["u"].dtype, large["u"].dtype)
                            np.testing.assert_array_equal(small["u"][()], large["u"][()])
                            np.testing.assert_array_equal(small["VTKHDF/PointData/u"][()], large["u"][()].squeeze())
                            self.assertLess(small["u"].id.get_storage_size(), large["u"].id.get_storage_size())
                        self.assertEqual(file.read_bytes(), spsolve.snapshots(again)[step].read_bytes())
                        self.assertIn("checksums hold", self.run_to(0, "info", file).out)

    def test_several_chunks_that_do_not_shrink(self):
        """Random values of two fields, chunks of 1 MiB and one that is shorter, on more ranks than the last round has chunks."""
        values = np.random.default_rng(5).random((5, 300, 300))
        with h5py.File(self.directory / "u.h5", "w") as file:
            file["u"] = values
        case = {"grid": {"shape": list(values.shape)}, "fields": {"u": {"initial": {"file": "u.h5", "dataset": "u"}}, "v": {"initial": "1 + x"}},
                "equations": {"step": "u.next = u; v.next = v"}, "time": {"steps": 0},
                "output": {"directory": "out", "compression": "deflate"}}
        plane = '\n[[outputs]]\nname = "plane"\nregion = { z = [2.0, 2.0] }\ncompression = "deflate"\n'
        out = self.solve(case, ranks=4, streams=plane)
        with h5py.File(spsolve.snapshots(out)[0]) as file:
            self.assertEqual(file["u"].chunks, (1, 300, 300))
            np.testing.assert_array_equal(file["u"][()], values)
            np.testing.assert_array_equal(file["v"][()], np.broadcast_to(1 + np.arange(300.0), values.shape))
        with h5py.File(out / "plane_0000000000.hdf") as file:
            np.testing.assert_array_equal(file["u"][()], values[2])
        self.run_to(0, "plot", spsolve.snapshots(out)[0])

    def test_damage_is_found(self):
        out = self.solve(problem([50, 70], compression="deflate"))
        file = spsolve.snapshots(out)[2]
        with h5py.File(file) as opened:
            place = opened["u"].id.get_chunk_info(0).byte_offset + 40
        data = bytearray(file.read_bytes())
        data[place] ^= 255
        file.write_bytes(data)
        self.assertIn("/u", self.run_to(4, "info", file).out)

    def test_it_is_said(self):
        out = self.solve(problem([20, 30], compression="deflate"))
        self.assertIn('compression = "deflate"', json.loads((out / "run.json").read_text())["input"])
        self.assertIn("deflate", self.run_to(0, "check", "case.toml").out)
        spsolve.write_input(self.directory / "bad.toml", problem([20, 30], compression="zip"))
        self.assertRegex(self.run_to(2, "bad.toml").err, r"bad.toml:\d+: \[output\] 'compression' is 'zip'.*valid values: none, deflate, zstd")

    def test_zstd_needs_its_filter(self):
        """HDF5_PLUGIN_PATH tells whether there is one: spsolve and h5py may have HDF5 libraries of their own."""
        case = problem([50, 70], compression="zstd")
        spsolve.write_input(self.directory / "zstd.toml", case)
        said = self.run_to(2, "zstd.toml", environment={"HDF5_PLUGIN_PATH": str(self.directory)}).err
        self.assertRegex(said, r"zstd.toml:\d+: \[output\] compression 'zstd' needs the zstd filter of HDF5")
        if not h5py.h5z.filter_avail(ZSTD):
            self.skipTest("no filter for zstd, such as that of the Python package hdf5plugin, in HDF5_PLUGIN_PATH")
        plain = self.solve(problem([50, 70]), directory="plain")
        packed, again = self.solve(case, directory="packed"), self.solve(case, 3, "again")
        for step, file in spsolve.snapshots(packed).items():
            with h5py.File(file) as small, h5py.File(spsolve.snapshots(plain)[step]) as large:
                self.assertIn(str(ZSTD), small["u"]._filters)
                np.testing.assert_array_equal(small["u"][()], large["u"][()])
            self.assertEqual(file.read_bytes(), spsolve.snapshots(again)[step].read_bytes())
            self.assertIn("checksums hold", self.run_to(0, "info", file).out)


if __name__ == "__main__":
    unittest.main()
