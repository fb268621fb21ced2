# SPDX-License-Identifier: Apache-2.0
"""The snapshots of real runs as VTK's reader and h5py see them: values, axis order, geometry, stride, precision, times."""
import importlib.util
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time
import unittest

import h5py
import numpy as np

import spsolve

# No two axes are alike; every value encodes its position.
GRIDS = {
    1: ([23], [0.5], [-3.0], "x"),
    2: ([7, 12], [0.25, 2.0], [10.0, -1.0], "x + 100 * y"),
    3: ([5, 6, 9], [0.5, 0.25, 2.0], [1.0, 2.0, 3.0], "x + 100 * y + 10000 * z"),
}

# Takes the place of the flushes of the C library, and adds a byte to a file at each.
COUNT_FLUSHES = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static int counted(long call, int file) {
  const int counts = open(getenv("SPSOLVE_FLUSHES"), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (write(counts, "f", 1) != 1) abort();
  close(counts);
  return syscall(call, file);
}
int fsync(int file) { return counted(SYS_fsync, file); }
int fdatasync(int file) { return counted(SYS_fdatasync, file); }
int syncfs(int file) { return counted(SYS_syncfs, file); }
"""


def xyz(per_axis, absent):
    """Returns values per axis, slowest first, in VTK's order."""
    return [*reversed(per_axis), *[absent] * (3 - len(per_axis))]


class Files(spsolve.TestCase):
    def solve(self, dimensions, *options, ranks=2):
        """Takes three steps that double every value; returns the initial field of numpy and the snapshots."""
        shape, spacing, origin, expression = GRIDS[dimensions]
        weights = [[[2.0]]] if dimensions == 3 else [[2.0]] if dimensions == 2 else [2.0]
        file = spsolve.write_input(self.directory / "größe.toml", {
            "grid": {"shape": shape, "spacing": spacing, "origin": origin},
            "stencil": {"weights": weights},
            "initial": {"expression": expression},
            "time": {"steps": 3},
            "output": {"directory": "out", "every": 2},
        })
        self.run_to(0, file, "--overwrite", *options, ranks=ranks)
        points = np.meshgrid(*[o + h * np.arange(n) for o, h, n in zip(origin, spacing, shape)], indexing="ij")
        return sum(point * 100.0**power for power, point in enumerate(reversed(points))), spsolve.snapshots(self.directory / "out")

    def test_files_written_at_the_same_time_are_those_of_a_run_that_waits(self):
        """Four threads allow four files at a time; snapshots, two streams, compressed chunks and checkpoints mix."""
        file = spsolve.write_input(self.directory / "two.toml", {
            "grid": {"shape": [60, 70, 80]},
            "fields": {"u": {"initial": "x*y + z"}, "v": {"initial": "x"}},
            "equations": {"step": "u.next = u + 0.1*laplace(u); v.next = v + 0.05*laplace(v)"},
            "time": {"dt": 0.1, "steps": 20},
            "output": {"every": 2},
            "outputs": [{"name": "plane", "every": 1, "region": {"z": [30.0, 30.0]}},
                        {"name": "coarse", "every": 3, "stride": 2, "compression": "deflate"}],
            "checkpoint": {"every": 10, "keep": 9},
        })
        written = []
        for ranks, background in ((1, "false"), (3, "true")):
            self.run_to(0, file, "--overwrite", "--output", "out", *spsolve.settings(f"output.background={background}"), ranks=ranks,
                        environment={"OMP_NUM_THREADS": "4"})
            out = self.directory / "out"
            written.append({path.name: path.read_bytes() for path in out.iterdir() if path.suffix in (".hdf", ".series", ".csv")})
            self.assertEqual([path.name for path in sorted(out.glob("checkpoint*"))], ["checkpoint_0000000010.h5", "checkpoint_0000000020.h5"])
        self.assertGreater(len(written[0]), 40)
        self.assertEqual(written[0].keys(), written[1].keys())
        self.assertEqual([name for name in written[0] if written[0][name] != written[1][name]], [])

    def test_h5py(self):
        for dimensions in GRIDS:
            for stride in (1, 2, 4):
                with self.subTest(dimensions=dimensions, stride=stride):
                    initial, found = self.solve(dimensions, "--set", f"output.stride={stride}")
                    self.assertEqual(list(found), [0, 2, 3])
                    for step, path in found.items():
                        with h5py.File(path) as file:
                            self.assertEqual(file["u"].dtype, np.float64)
                            self.assertTrue(np.array_equal(file["u"][()], 2.0**step * initial[(slice(None, None, stride),) * dimensions]))
                            self.assertEqual(file["u"], file["VTKHDF/PointData/u"])
                            self.assertEqual(int(file.attrs["step"]), step)
                            self.assertEqual(float(file.attrs["time"]), step)
                            self.assertEqual(int(file.attrs["stride"]), stride)
                            self.assertEqual(file.attrs["name"].decode(), "größe")
                            self.check_image(file["VTKHDF"], dimensions, stride)

    def check_image(self, image, dimensions, stride):
        """Checks the attributes that VTK requires: in the order x, y, z, with text in ASCII."""
        shape, spacing, origin, _ = GRIDS[dimensions]
        self.assertEqual((list(image.attrs["Version"]), image.attrs["Type"]), ([1, 0], b"ImageData"))
        self.assertEqual(h5py.h5a.open(image.id, b"Type").get_type().get_cset(), h5py.h5t.CSET_ASCII)
        self.assertEqual(list(image.attrs["WholeExtent"]), [i for n in xyz(shape, 1) for i in (0, (n - 1) // stride)])
        self.assertEqual(list(image.attrs["Spacing"]), xyz([stride * h for h in spacing], 1.0))
        self.assertEqual(list(image.attrs["Origin"]), xyz(origin, 0.0))

    def test_vtk_sees_an_array_without_axes_of_one_point(self):
        """Its reader leaves such axes out, and takes an array that has them for one with components."""
        for shape in ([1, 6, 9], [5, 1, 9], [5, 6, 1], [1, 1, 9], [1, 1, 1], [1, 12], [7, 1], [1]):
            with self.subTest(shape):
                _, found = self.solve(len(shape), "--set", f"grid.shape={shape}", ranks=None)
                with h5py.File(found[0]) as file:
                    self.assertEqual(file["u"].shape, tuple(shape))
                    shown = file["VTKHDF/PointData/u"]
                    self.assertEqual(shown.shape, tuple(n for n in shape if n > 1) or (1,))
                    self.assertEqual(shown[()].tobytes(), file["u"][()].tobytes())
                self.run_to(0, "info", found[0])

    def test_precisions(self):
        """Values are rounded to the precision of the run, then to that of the file."""
        kinds = {"fp64": np.float64, "fp32": np.float32, "fp16": np.float16}
        for compute, output, stride in itertools.product(kinds, ("fp64", "fp32"), (1, 3)):
            with self.subTest(compute=compute, output=output, stride=stride):
                initial, found = self.solve(2, *spsolve.settings(
                    f"compute.precision={compute}", f"output.precision={output}", f"output.stride={stride}",
                    "initial.expression=(x + 100 * y) / 3"))
                for step, path in found.items():
                    values = (2.0**step * (initial / 3).astype(kinds[compute]).astype(np.float64)).astype(kinds[output])
                    self.assertEqual(spsolve.values(path).dtype, kinds[output])
                    self.assertTrue(np.array_equal(spsolve.values(path), values[::stride, ::stride]))

    def read_with_vtk(self, path, dimensions):
        script = pathlib.Path(__file__).with_name("read_with_vtk.py")
        result = subprocess.run([sys.executable, "-B", script, path, str(dimensions), self.directory / "values.npy"], capture_output=True, text=True)
        if result.returncode == 77:
            self.skipTest(result.stdout.strip())
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout), np.load(self.directory / "values.npy")

    @unittest.skipIf(importlib.util.find_spec("vtkmodules") is None, "there is no VTK for Python")
    def test_vtk(self):
        for dimensions, stride, precision in itertools.product(GRIDS, (1, 3, 5), ("fp64", "fp32")):
            with self.subTest(dimensions=dimensions, stride=stride, precision=precision):
                initial, found = self.solve(
                    dimensions, *spsolve.settings(f"output.stride={stride}", f"output.precision={precision}"), ranks=3)
                kept = initial[(slice(None, None, stride),) * dimensions]
                image, values = self.read_with_vtk(found[3], sum(n > 1 for n in kept.shape))
                shape, spacing, origin, _ = GRIDS[dimensions]
                self.assertEqual(image["dimensions"], xyz(kept.shape, 1))
                self.assertEqual(image["spacing"], xyz([stride * h for h in spacing], 1.0))
                self.assertEqual(image["origin"], xyz(origin, 0.0))
                last = [o + h * stride * (n - 1) for o, h, n in zip(origin, spacing, kept.shape)]
                self.assertEqual(image["last_point"], xyz(last, 0.0))
                kind = {"fp64": np.float64, "fp32": np.float32}[precision]
                self.assertEqual(values.dtype, kind)
                self.assertTrue(np.array_equal(values.reshape(kept.shape), (8 * kept).astype(kind)))

    def test_values_beyond_the_range_of_the_file_are_told(self):
        """A warning must say once how many values of an fp64 state fp32 files cannot hold."""
        beyond = "initial.expression=(x + 100 * y) * 1e36"  # fp32 ends at 3.4e38; three steps double it
        for ranks, options in itertools.product((1, 2), ([], ["--set", "output.background=true"])):
            file = self.directory / "größe.toml"
            initial, _ = self.solve(2)
            result = self.run_to(0, file, "--overwrite", *spsolve.settings(beyond, "output.precision=fp32"), *options, ranks=ranks)
            count = int((np.abs(initial * 1e36) > np.finfo(np.float32).max).sum())
            self.assertGreater(count, 0)
            self.assertEqual(result.err.count("warning"), 2, result.err)  # the weights grow as well
            self.assertIn(f"in the snapshot of step 0 {count} values beyond the range of fp32 are infinite", result.err)
            found = spsolve.snapshots(self.directory / "out")
            self.assertEqual(int(np.isinf(spsolve.values(found[0])).sum()), count)
            below = self.run_to(0, file, "--overwrite", *spsolve.settings("initial.expression=(x + 100 * y) * 1e-60", "output.precision=fp32"), *options, ranks=ranks)
            self.assertRegex(below.err, r"the values of the snapshot of step 0 are [\d.]+e-\d+ at most, which is zero in fp32")
        self.assertNotIn("infinite", self.run_to(0, file, "--overwrite", "--set", beyond).err)
        self.assertNotIn("zero in fp32", self.run_to(0, file, "--overwrite", "--set", "initial.expression=(x + 100 * y) * 1e-60").err)

    def test_values_beyond_the_range_of_streams_are_told(self):
        """Each stream of [[outputs]] has a precision, and a region of its own."""
        streams = [{"name": "low", "every": 2, "precision": "fp32", "region": {"x": [0.0, 1.0]}},
                   {"name": "high", "every": 2, "precision": "fp32", "stride": 2}, {"name": "wide", "every": 2}]
        file = spsolve.write_input(self.directory / "case.toml", {
            "grid": {"shape": [6, 9]}, "fields.u": {"initial": "x*1e38"}, "equations": {"step": "u.next = u"}, "outputs": streams,
            "time": {"steps": 4}, "output": {"directory": "out"}, "compute": {"device": "cpu"}})
        for ranks, options in itertools.product((1, 3), ([], ["--set", "output.background=true"])):
            error = self.run_to(0, file, "--overwrite", *options, ranks=ranks).err
            self.assertEqual(re.findall(r"in the (.*) infinite: (.*) precision", error),
                             [("output high of step 0 9 values beyond the range of fp32 are", "[[outputs]]")], error)

    def test_sums_that_are_not_numbers_are_told(self):
        file = spsolve.write_input(self.directory / "case.toml", {
            "grid": {"shape": [9]}, "fields.u": {"initial": "x"}, "equations": {"step": "u.next = u"}, "time": {"steps": 4},
            "diagnostics": {"every": 1, "sums": {"fine": "u", "inverse": "1/u"}}, "output": {"directory": "out"}})
        error = self.run_to(0, file, ranks=2).err
        self.assertEqual(error.count("warning: [diagnostics.sums] inverse is nan at step 0: the formula is NaN or infinite at some point"), 1, error)
        self.assertNotIn("warning", self.run_to(0, file, "--overwrite", "--set", "fields.u.initial=1 + x").err)

    @unittest.skipUnless(shutil.which("cc"), "needs a C compiler")
    def test_small_files_are_flushed_together(self):
        """A flush takes milliseconds to tens of them, so that a movie of a small grid must not take one per file."""
        source, library, flushes = (self.directory / name for name in ("count.c", "count.so", "flushes"))
        source.write_text(COUNT_FLUSHES)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        images = [{"name": "movie", "value": "u", "every": 1}]
        file = spsolve.write_input(self.directory / "movie.toml", {
            "grid": {"shape": [16, 16]}, "stencil": {"preset": "star2d1r"}, "initial": {"expression": "x"}, "time": {"steps": 100},
            "output": {"directory": "movie", "every": 1}, "outputs": [{"name": "part", "every": 1, "stride": 2}], "images": images})

        def expect_few_flushes(directory, files, kinds, *changes):
            """Snapshots with streams, and images, are two kinds of files. Each kind is flushed every 5 seconds and at the
            end, up to 8 files and their directory."""
            flushes.unlink(missing_ok=True)
            begin = time.monotonic()
            self.run_to(0, file, "--output", directory, *spsolve.settings(*changes),
                        environment={"LD_PRELOAD": str(library), "SPSOLVE_FLUSHES": str(flushes)})
            most = kinds * (8 + 1) * (2 + (time.monotonic() - begin) / 5)
            self.assertGreater(len(list((self.directory / directory).iterdir())), files)
            self.assertLess(len(flushes.read_text()), most)

        expect_few_flushes("movie", 300, 2)
        expect_few_flushes("long", 1000, 1, "time.steps=1000", "images=[]", "outputs=[]")
        streams = ", ".join(f'{{name = "part{i}", every = 1, stride = 2}}' for i in range(40))
        expect_few_flushes("parts", 160, 1, "time.steps=3", "images=[]", f"outputs=[{streams}]")

    def test_series_names_whole_files_with_their_times(self):
        file = spsolve.write_input(self.directory / "problem.toml", {
            "grid": {"shape": [50]},
            "stencil": {"preset": "heat", "diffusivity": 1.0, "dt": 0.25},
            "initial": {"expression": "sin(2 * pi * x / 50)"},
            "time": {"end": 2.6},
            "output": {"directory": "out", "every": 3},
        })
        self.run_to(0, file, ranks=2)
        series = json.loads((self.directory / "out" / "snapshots.hdf.series").read_text())
        self.assertEqual(series["file-series-version"], "1.0")
        self.assertEqual([(entry["name"], entry["time"]) for entry in series["files"]],
                         [(f"snapshot_{step:010}.hdf", 0.25 * step) for step in (0, 3, 6, 9, 11)])
        for entry in series["files"]:
            self.assertTrue((self.directory / "out" / entry["name"]).exists())

    def test_files_are_read_without_locks(self):
        """This must hold even if the environment asks for locks."""
        _, found = self.solve(1)
        with h5py.File(found[3], "r+"):
            self.run_to(0, "info", found[3], environment={"HDF5_USE_FILE_LOCKING": "TRUE"})

    def test_info_describes_and_verifies(self):
        _, found = self.solve(3)
        text = self.run_to(0, "info", found[3], ranks=2).out
        for wanted in ("5", "6", "9", "float64", "step", "3"):
            self.assertIn(wanted, text)
        with h5py.File(found[3]) as file:
            offset = file["u"].id.get_offset()
        data = bytearray(found[3].read_bytes())
        data[offset + 77] ^= 1
        found[3].write_bytes(data)
        result = self.run_to(4, "info", found[3], ranks=2)
        self.assertRegex(result.out + result.err, "checksum")

    def test_checkpoints_read_with_h5py(self):
        for precision, kind in (("fp64", "<f8"), ("fp32", "<f4"), ("fp16", "<f2"), ("bf16", None)):
            with self.subTest(precision):
                initial, _ = self.solve(2, *spsolve.settings("checkpoint.every=1", f"compute.precision={precision}"))
                path = spsolve.checkpoints(self.directory / "out")[3]
                with h5py.File(path) as file:
                    if kind:
                        self.assertEqual(file["u"].dtype, np.dtype(kind))
                        self.assertTrue(np.array_equal(file["u"], (8 * initial).astype(kind)))
                    else:  # numpy has no bfloat16; HDF5 itself converts it, of which 8 bits are kept
                        self.assertEqual(file["u"].id.get_type().get_size(), 2)
                        values = np.empty(initial.shape, "f4")
                        file["u"].id.read(h5py.h5s.ALL, h5py.h5s.ALL, values, mtype=h5py.h5t.NATIVE_FLOAT)
                        self.assertLessEqual(np.abs(values - 8 * initial).max(), 2**-8 * np.abs(8 * initial).max())
                        self.assertTrue(np.array_equal(values.view("u4") & 0xffff, np.zeros(values.shape, "u4")))
                    self.assertEqual((int(file.attrs["step"]), float(file.attrs["time"])), (3, 3.0))
                    self.assertIn('name = "größe"', file.attrs["input"].decode())
                    self.assertIn("fuse", json.loads(file.attrs["plan"]))


if __name__ == "__main__":
    unittest.main()
