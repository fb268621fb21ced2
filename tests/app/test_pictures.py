# SPDX-License-Identifier: Apache-2.0
"""Pictures: spsolve plot, and [[images]] while a run goes on."""
import unittest

import h5py
import numpy as np

import spsolve
from png_file import Png

DARK, BRIGHT = (0x44, 0x01, 0x54), (0xfd, 0xe7, 0x25)  # ends of viridis
NAN = (255, 0, 220)


def blue_red(s):
    """Returns the diverging map by its formula, s from -1 to 1: https://bottosson.github.io/posts/oklab"""
    hue = np.radians(28 if s > 0 else 250)
    lightness, chroma = 0.96 - 0.58 * abs(s), 0.13 * np.sin(0.7 * np.pi * abs(s))
    a, b = chroma * np.cos(hue), chroma * np.sin(hue)
    cones = np.array([[1, 0.3963377774, 0.2158037573], [1, -0.1055613458, -0.0638541728], [1, -0.0894841775, -1.2914855480]])
    to_rgb = np.array([[4.0767416621, -3.3077115913, 0.2309699292], [-1.2684380046, 2.6097574011, -0.3413193965],
                       [-0.0041960863, -0.7034186147, 1.7076147010]])
    linear = to_rgb @ (cones @ [lightness, a, b])**3
    srgb = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 0)**(1 / 2.4) - 0.055)
    return tuple(np.rint(255 * np.clip(srgb, 0, 1)).astype(int))


BLUE, RED = blue_red(-1), blue_red(1)


def identity(dimensions):
    """Returns weights that keep every value."""
    weights = 1.0
    for _ in range(dimensions):
        weights = [weights]
    return {"weights": weights}


class Pictures(spsolve.TestCase):
    def solve(self, shape, expression, output="out", steps=0, grid={}, more="", options=(), ranks=None, name="field"):
        """Runs a field that does not change; returns the directory of the results."""
        file = spsolve.write_input(self.directory / f"{name}.toml", {
            "grid": {"shape": shape, **grid}, "stencil": identity(len(shape)), "initial": {"expression": expression},
            "time": {"steps": steps, "dt": 0.5},
        })
        file.write_text(file.read_text() + more)
        self.run_to(0, file, "--output", output, *options, ranks=ranks)
        return self.directory / output

    def plot(self, *arguments):
        """Returns the picture that a command draws."""
        picture = self.directory / "picture.png"
        self.run_to(0, "plot", *arguments, "-o", picture)
        return Png(picture)

    def refused(self, status, *arguments):
        return self.run_to(status, "plot", *arguments).err

    def same_files(self, one, other, pattern="*.png"):
        """Asserts that two directories have the same pictures, and returns their names."""
        names = sorted(path.name for path in one.glob(pattern))
        self.assertEqual(names, sorted(path.name for path in other.glob(pattern)))
        for name in names:
            self.assertEqual((one / name).read_bytes(), (other / name).read_bytes(), name)
        return names

    def system(self, name, text):
        """Writes an input with [equations]."""
        file = self.directory / f"{name}.toml"
        file.write_text(text)
        return file

    def test_two_values(self):
        out = self.solve([4, 6], "x >= 3 && y < 1 ? 1 : -1")
        png = self.plot(out / "snapshot_0000000000.hdf")
        wanted = np.full((4, 6, 3), DARK, np.uint8)
        wanted[0, 3:] = BRIGHT  # the first row is at the bottom
        np.testing.assert_array_equal(png.points(4, 6), wanted)
        self.assertEqual(png.area().shape, (424, 636, 3), "equal scales")
        self.assertEqual(png.texts["Title"], "field: u, step 0, t = 0")
        self.assertEqual(png.range(), (-1, 1))
        png = self.plot(out, "--colormap", "blue-red", "--range", "-1", "0.5")
        np.testing.assert_array_equal(png.points(4, 6)[0, 2:4], [BLUE, RED])
        png = self.plot(out, "--colormap", "blue-red", "--range", "-2", "2")
        np.testing.assert_array_equal(png.points(4, 6)[0, 2:4], [blue_red(-0.5), blue_red(0.5)])
        png = self.plot(out, "--colormap", "blue-red", "--range", "-1", "0.5")
        self.assertEqual(png.range(), (-1, 0.5))

    def test_area_follows_the_spacing(self):
        out = self.solve([10, 20], "x", grid={"spacing": [4.0, 1.0]})
        self.assertEqual(self.plot(out).area().shape[:2], (560, 280))

    def test_planes(self):
        shape, spacing, origin = [4, 5, 6], [0.5, 1.0, 2.0], [1.0, 2.0, 3.0]
        out = self.solve(shape, "100*z + 10*y + x", grid={"spacing": spacing, "origin": origin})
        with h5py.File(out / "snapshot_0000000000.hdf") as file:
            u = file["u"][()]
        for arguments, plane, title in [([], u[2], "z = 2"), (["--plane", "z=1.2"], u[0], "z = 1"),
                                        (["--plane", "y=5.6"], u[:, 4], "y = 6"), (["--plane", "x=13"], u[:, :, 5], "x = 13")]:
            with self.subTest(arguments):
                png = self.plot(out, *arguments)
                self.assertEqual(png.range(), (plane.min(), plane.max()))
                self.assertTrue(png.texts["Title"].endswith(", " + title), png.texts["Title"])
                area = png.area()
                self.assertEqual(tuple(area[0, 0]), DARK)
                self.assertEqual(tuple(area[-1, -1]), BRIGHT)
        message = self.refused(2, out, "--plane", "y=7")
        self.assertIn("snapshot_0000000000.hdf: --plane: y = 7 lies outside the grid, whose points go from 2 to 6", message)

    def test_curve(self):
        out = self.solve([50], "x", grid={"spacing": [0.5], "origin": [-3.0]})
        png = self.plot(out)
        area = png.area()
        height, width, _ = area.shape
        drawn = (area != 255).any(axis=2)
        self.assertTrue(drawn.any(axis=0)[1:-1].all(), "the curve is whole")
        # The axis is a twentieth longer than the values at each end; lines are two pixels wide.
        wanted = (np.linspace(0, 1, width) + 0.05) / 1.1 * height
        middle = (drawn * np.arange(height)[:, None]).sum(axis=0) / np.maximum(drawn.sum(axis=0), 1)
        self.assertLess(np.abs(middle - wanted)[2:-2].max(), 3)

    def test_awkward_arrays(self):
        for shape, area in [([1, 50], (32, 600)), ([50, 1], (550, 32)), ([1, 1], (560, 560)), ([1], None), ([1, 1, 1], (560, 560))]:
            with self.subTest(shape):
                png = self.plot(self.solve(shape, "2.5", options=["--overwrite"]))
                self.assertEqual(png.range(), (2.5, 2.5))
                if area:
                    self.assertEqual(png.area().shape[:2], area)
                    self.assertEqual(len(np.unique(png.area().reshape(-1, 3), axis=0)), 1)

    def test_large_arrays_become_means(self):
        out = self.solve([1500, 2000], "fmod(x + y, 2)", options=["--set", "output.precision=fp32"])
        png = self.plot(out, "--colormap", "magma")
        self.assertEqual(png.area().shape[:2], (480, 640))
        self.assertEqual(png.range(), (0, 1), "of values, not of means")
        # Blocks have 3 x 3 to 4 x 4 points, so that means lie between 4/9 and 5/9.
        ends = []
        for mean in (4 / 9, 5 / 9):
            one = self.plot(self.solve([1, 1], repr(mean), output="one", options=["--overwrite"]), "--colormap", "magma", "--range", "0", "1")
            ends.append(one.points(1, 1)[0, 0])
        self.assertTrue((ends[0] < ends[1])[0])
        reds = png.area()[:, :, 0]
        self.assertGreaterEqual(reds.min(), ends[0][0])
        self.assertLessEqual(reds.max(), ends[1][0])

    def test_nan_has_its_color(self):
        out = self.solve([4, 6], "x + 6*y")
        file = out / "snapshot_0000000000.hdf"
        with h5py.File(file, "r+") as snapshot:
            snapshot["u"][2, 1] = np.nan
            snapshot["u"][0, 0] = -np.inf
        png = self.plot(file)
        points = png.points(4, 6)
        self.assertEqual(tuple(points[2, 1]), NAN)
        self.assertEqual((points == NAN).all(axis=2).sum(), 1)
        self.assertEqual(tuple(points[0, 0]), DARK)
        self.assertEqual(png.range(), (1, 23))

    def test_files(self):
        """A directory, a series, a snapshot and a checkpoint of the same step must give the same picture."""
        out = self.solve([7, 9], "x*y", steps=4, name="größe", options=["--set", "output.every=2", "--set", "checkpoint.final=true"])
        file = out / "snapshot_0000000004.hdf"
        self.assertIn("wrote", self.run_to(0, "plot", file).out)
        picture = file.with_suffix(".png").read_bytes()
        self.assertEqual(Png(file.with_suffix(".png")).texts["Title"], "größe: u, step 4, t = 2")
        for name in [out, out / "snapshots.hdf.series", out / "checkpoint_0000000004.h5"]:
            self.plot(name)
            self.assertEqual((self.directory / "picture.png").read_bytes(), picture, name)
        self.assertEqual(self.plot(out / "snapshot_0000000002.hdf").texts["Title"], "größe: u, step 2, t = 1")

    def test_fields(self):
        file = self.system("two", """[grid]
shape = [3, 4]
[fields.v]
initial = "x"
[fields.a]
initial = "10*y"
[equations]
step = "v.next = v; a.next = a + 0.5*(a - a.previous)"
[time]
dt = 1.0
steps = 1
[checkpoint]
final = true
""")
        self.run_to(0, file, "--output", "out")
        out = self.directory / "out"
        self.assertEqual(self.plot(out).range(), (0, 3), "the first field of the input")
        self.assertEqual(self.plot(out, "--field", "a").range(), (0, 20))
        checkpoint = out / "checkpoint_0000000001.h5"
        self.assertEqual(self.plot(checkpoint).range(), (0, 3))
        self.assertEqual(self.plot(checkpoint, "--field", "a.previous").texts["Title"], "two: a.previous, step 1, t = 1")
        message = self.refused(2, out, "--field", "q")
        self.assertIn("snapshot_0000000001.hdf: there is no field 'q'", message)
        self.assertIn("fields: a, v", message)

    def test_errors(self):
        out = self.solve([3, 4], "x")
        self.assertIn("planes are for 3D grids; this one is 2D", self.refused(2, out, "--plane", "z=0"))
        self.assertIn("--plane is 'w=1'", self.refused(2, out, "--plane", "w=1"))
        self.assertIn("LOW must be below HIGH", self.refused(2, out, "--range", "1", "1"))
        self.assertIn("--colormap", self.refused(2, out, "--colormap", "jet"))
        self.assertIn("missing.hdf", self.refused(4, "missing.hdf"))
        (self.directory / "empty").mkdir()
        self.assertIn("empty: holds no snapshots", self.refused(4, "empty"))
        (self.directory / "a.series").write_text("{}")
        self.assertIn("a.series: names no snapshots", self.refused(4, "a.series"))
        with h5py.File(self.directory / "other.h5", "w") as file:
            file["u"] = np.zeros((3, 3))
        self.assertIn("other.h5: is an HDF5 file of another program; wanted a snapshot, a checkpoint or probes", self.refused(2, "other.h5"))
        self.assertIn("nowhere", self.refused(4, out, "-o", "nowhere/a.png"))
        (self.directory / "text.hdf").write_text("no HDF5")
        self.assertIn("text.hdf", self.refused(4, "text.hdf"))

    def test_no_picture_has_the_name_of_another_file(self):
        out = self.solve([3, 4], "x")
        snapshot = next(out.glob("*.hdf"))
        before = snapshot.read_bytes()
        for name in (snapshot, self.directory / "a.pdf"):
            self.assertIn(f"'{name}' ends in '{name.suffix}'; pictures are PNG files", self.refused(2, out, "-o", name))
        self.assertEqual(snapshot.read_bytes(), before)
        for name in ("a.PNG", "a"):
            self.run_to(0, "plot", out, "-o", self.directory / name)
            self.assertEqual(Png(self.directory / name).texts["Title"], "field: u, step 0, t = 0")

    PROBES = """
[[probes]]
name = "few"
at = [[1.0, 2.0], [2.0, 4.5]]
[[probes]]
name = "many"
at = [[0.0, 0.0], [0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [0.0, 4.0], [1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0], [1.0, 4.0]]
"""

    def test_probes(self):
        run = dict(shape=[3, 6], expression="x - 10*y", more=self.PROBES)
        out, shorter = self.solve(steps=9, **run), self.solve(steps=5, output="shorter", **run)
        probes = out / "probes.h5"
        png = self.plot(probes)
        self.assertEqual(png.texts["Title"], "few: u")
        self.assertEqual(png.range(), (-15.5, -8))
        png = self.plot(probes, "--field", "many/u")
        points = png.points(10, 10)
        self.assertTrue((points == points[:1]).all(), "time is vertical, and nothing changes")
        self.assertEqual(png.range(), (-10, 10), "0 is in the middle")
        self.assertEqual(tuple(points[0, 5]), BLUE, "point [1, 0] has the least value")
        # The file is changed to that of a run that has reached step 5 of 9, and must give the picture of a
        # run that ends there.
        with h5py.File(probes, "r+") as file:
            for group in ("few", "many"):
                file[group]["step"][6:] = -1
        for group in ("few/u", "many/u"):
            self.plot(shorter / "probes.h5", "--field", group)
            wanted = (self.directory / "picture.png").read_bytes()
            self.plot(probes, "--field", group)
            self.assertEqual((self.directory / "picture.png").read_bytes(), wanted)
        # Rows of which a run in another directory has the first ones give the picture of the others.
        with h5py.File(probes, "r+") as file:
            for group in ("few", "many"):
                file[group]["step"][:2], file[group]["time"][:2], file[group]["u"][:2] = -1, 0, 1e9
        self.assertEqual(self.plot(probes).range(), (-15.5, -8))
        self.assertEqual(self.plot(probes, "--field", "many/u").range(), (-10, 10))
        with h5py.File(probes, "r+") as file:
            file["few/step"][:] = -1
        self.assertIn("probes.h5: /few holds no rows yet", self.refused(2, probes))
        self.assertIn("there is no field 'p'; fields: few/u, many/u", self.refused(2, probes, "--field", "p"))
        self.assertIn("--plane is for 3D grids", self.refused(2, probes, "--plane", "z=1"))

    MOVING = """name = "moving"
[grid]
shape = [12, 10, 14]
spacing = [0.5, 0.5, 0.25]
[boundary]
x = "periodic"
y = "neumann"
z = { low = { dirichlet = 1.0 }, high = "neumann" }
[constants]
two = 2.0
[coefficients]
c = "0.1 + 0.01*z"
[fields.p]
initial = 0.0
[fields.q]
initial = "sin(x)*y"
[equations]
step = "p.next = p + c*dt*laplace(p); q.next = 0.9*q + 0.1*p"
[time]
dt = 0.1
steps = 12
[checkpoint]
every = 4
[[point_sources]]
field = "p"
at = [3.0, 2.0, 1.0]
value = "1 + t"
[[images]]
name = "p"
value = "p"
every = 3
range = "fixed"
[[images]]
name = "mix-1"
value = "two*q + c*x - t + (step > 3 ? 1 : 0)*abs(z - y)"
every = 4
plane = { y = 1.3 }
colormap = "blue-red"
[[images]]
name = "side"
value = "p*dt"
every = 6
plane = { x = 1.0 }
range = [0.0, 0.5]
colormap = "magma"
"""

    def moving(self):
        return self.system("moving", self.MOVING)

    def test_images_of_any_number_of_ranks(self):
        file = self.moving()
        self.run_to(0, file, "--output", "one")
        self.run_to(0, file, "--output", "three", ranks=3)
        names = self.same_files(self.directory / "one", self.directory / "three")
        self.assertEqual(names, [f"{name}_{step:010}.png" for name, steps in
                                 [("mix-1", (0, 4, 8, 12)), ("p", (0, 3, 6, 9, 12)), ("side", (0, 6, 12))] for step in steps])
        side = Png(self.directory / "one/side_0000000012.png")
        self.assertEqual(side.range(), (0, 0.5))
        self.assertEqual(side.texts["Title"], "moving: p*dt, step 12, t = 1.2, x = 1")

    def test_restart_has_the_same_images(self):
        file = self.moving()
        self.run_to(0, file, "--output", "whole")
        self.run_to(0, file, "--output", "parts", "--set", "time.steps=8")
        parts = self.directory / "parts"
        # The stopped run had reached a later step than its last checkpoint.
        (parts / "p_0000000009.png").write_bytes(b"of the run that was stopped")
        (parts / "p_0000000010.png").write_bytes(b"of another run")
        self.run_to(0, file, "--output", "parts", "--restart", "latest", ranks=2)
        self.same_files(self.directory / "whole", parts)
        ranges = [Png(path).range() for path in sorted(parts.glob("p_*.png"))]
        self.assertEqual(ranges[0], (0, 0), "nothing to see before the first step")
        self.assertEqual(len(set(ranges[1:])), 1, "fixed since")
        self.assertLess(ranges[1][0], ranges[1][1])

    def test_images_show_the_state(self):
        """An image of a field is the picture of its snapshot; one of a formula has its extremes and colors."""
        images = """[[images]]
name = "plain"
value = "u"
every = 2
[[images]]
name = "formula"
value = "2*u + x - 4*t + step"
every = 2
[[images]]
name = "constant"
value = "3"
every = 4
"""
        grid = {"spacing": [0.25, 0.5], "origin": [1.0, -2.0]}
        out = self.solve([6, 10], "x - y", steps=4, grid=grid, more=images, options=["--set", "output.every=2"], ranks=2)
        for step in (0, 2, 4):
            self.plot(out / f"snapshot_{step:010}.hdf")
            self.assertEqual((out / f"plain_{step:010}.png").read_bytes(), (self.directory / "picture.png").read_bytes())
            y, x = np.meshgrid(1 + 0.25 * np.arange(6), -2 + 0.5 * np.arange(10), indexing="ij")
            values = 2 * (x - y) + x - 4 * 0.5 * step + step
            png = Png(out / f"formula_{step:010}.png")
            self.assertEqual(png.range(), (values.min(), values.max()))
            area = png.area()
            self.assertEqual(tuple(area[-1, 0]), DARK)
            self.assertEqual(tuple(area[0, -1]), BRIGHT)
        self.assertEqual([path.name for path in sorted(out.glob("constant_*"))], ["constant_0000000000.png", "constant_0000000004.png"])

    def test_images_of_one_axis(self):
        out = self.solve([40], "x", steps=1, more='[[images]]\nname = "line"\nvalue = "u"\n', ranks=2)
        png = Png(out / "line_0000000001.png")
        self.assertEqual(png.range(), (0, 39))
        self.assertTrue((png.area() != 255).any(axis=(0, 2))[1:-1].all())

    def test_images_are_results(self):
        file = self.moving()
        self.run_to(0, file, "--output", "out")
        out = self.directory / "out"
        for path in out.iterdir():
            if path.suffix != ".png":
                path.unlink()
        (out / "mine.png").write_bytes(b"")
        self.assertIn("files of another run", self.run_to(2, file, "--output", "out").err)
        self.run_to(0, file, "--output", "out", "--overwrite", "--set", "time.steps=1")
        self.assertEqual(sorted(path.name for path in out.glob("*.png")),
                         ["mine.png", "mix-1_0000000000.png", "p_0000000000.png", "side_0000000000.png"])


if __name__ == "__main__":
    unittest.main()
