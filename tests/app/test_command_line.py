# SPDX-License-Identifier: Apache-2.0
"""Verbs, flags, messages and exit statuses."""
import itertools
import json
import os
import re
import subprocess
import tomllib
import unittest

import h5py
import numpy as np

import spsolve

RANKS = (None, 1, 3, 8)  # None: without mpirun
BASE = {
    "grid": {"shape": [9, 14]},
    "stencil": {"preset": "star2d1r"},
    "initial": {"expression": "x * y"},
    "time": {"steps": 5},
    "output": {"directory": "out"},
}


class CommandLine(spsolve.TestCase):
    def write(self, text=None, **changes):
        file = self.directory / "problem.toml"
        if text is not None:
            file.write_text(text)
        else:
            spsolve.write_input(file, {**BASE, **changes})
        return file

    def names(self):
        return sorted(path.name for path in self.directory.iterdir())

    def says(self, status, wanted, *arguments, **options):
        """Expects one message that matches every pattern of `wanted`."""
        result = self.run_to(status, *arguments, **options)
        errors = [line for line in result.err.splitlines() if line.startswith("spsolve: error:")]
        self.assertEqual(len(errors), 1, result.err)
        for pattern in [wanted] if isinstance(wanted, str) else wanted:
            self.assertRegex(errors[0], pattern)
        return result

    def test_help_and_version(self):
        help_text = self.run_to(0, "--help").out
        for word in ("check", "plan", "bench", "info", "plot", "keys", "new", "doctor", "--set", "--restart", "--output", "--overwrite", "--quiet", "heat",
                     "advection-diffusion", "Formulas", "Exit status", "USR1", "USR2"):
            self.assertIn(word, help_text)
        project = (spsolve.SOURCE / "CMakeLists.txt").read_text()
        version = re.search(r"project\(spsolve VERSION (\S+)", project)[1]
        for ranks in RANKS:
            with self.subTest(ranks=ranks):
                self.assertEqual(self.run_to(0, "--version", ranks=ranks).out, f"spsolve {version}\n")
        formula = " + ".join(["pi", *(f"{name}(0.5)" for name in (
            "abs sign rint floor ceil trunc sqrt exp ln log log10 log2 sin cos tan asin acos atan sinh cosh tanh asinh atanh min max sum "
            "avg".split())), "acosh(1)", "atan2(1, 2)", "fmod(1, 2)", "hypot(1, 2)", "pow(1, 2)", "(x >= 0 && y < 9 || x != 1 ? 1 : 0)"])
        self.run_to(0, "check", self.write(initial={"expression": formula}))
        for verb in ("check", "plan", "bench", "info", "plot", "keys", "new", "doctor"):
            self.assertIn("--help", self.run_to(0, verb, "--help").out)
        self.assertNotIn("Stencil presets", self.run_to(0, "info", "--help").out)

    def test_usage_errors(self):
        file = self.write()
        for arguments in ([], ["--bogus"], [file, "--bogus"], [file, "another.toml"], ["check"], ["plan"], ["info"], ["plot"], [file, "--restart"],
                          ["doctor", "x"], ["bench", "--steps", "0"], ["bench", "--shape", "4,x"], ["bench", "--precision", "fp8"],
                          ["bench", "--fuse", "0"], ["bench", "--unit", "magic"], ["bench", "--tune", "--no-tune"], [file, "--set"], [file, "--output", ""],
                          [file, "--restart", ""], ["plan", file, "--device-model", ""], [file, "--set", "time.steps=3", "time.fuse=2"]):
            with self.subTest(arguments):
                result = self.run_to(2, *arguments)
                self.assertEqual(result.out, "")
                self.assertIn("--help", result.err)
        for verb in ("run", "solve"):
            self.assertRegex(self.run_to(2, verb, file).err, f"no verb '{verb}': an input alone is run, as in\n  spsolve {file}")
        for verb, command in (("resume", f"spsolve {file} --restart latest"), ("validate", f"spsolve check {file}"), ("help", "spsolve --help")):
            self.assertIn(f"\n  {command}\n", self.run_to(2, verb, file).err)
        for option in ("--output", "--json"):
            for path, word in (("$SCRATCH/x", r"\$SCRATCH"), ("~/x", "~"), ("~me/x", "~me"), ("a/${B}/c", r"\$\{B\}")):
                arguments = ["bench", "--json", path] if option == "--json" else [file, "--output", path]
                self.assertRegex(self.run_to(2, *arguments).err, f"{option} holds '{word}', which the shell has not expanded")
        for arguments in (["chekc", file], ["docter"]):
            self.assertRegex(self.run_to(2, *arguments).err, "no verb .*; did you mean '(check|doctor)'")
        self.assertEqual(self.names(), ["problem.toml"])

    def test_statuses_are_the_same_on_any_number_of_ranks(self):
        file = self.write()
        for ranks in RANKS:
            with self.subTest(ranks=ranks):
                result = self.run_to(0, file, "--overwrite", ranks=ranks)
                self.assertEqual(result.out.count("finished 5 steps"), 1)
                self.says(2, "steps", file, "--set", "time.steps=-1", ranks=ranks)
                self.says(2, [r"\[initial\] file: /.*/file.h5: No such file"], file, "--overwrite", "--set", "initial={ file='file.h5', dataset='u' }", ranks=ranks)
                self.says(3, ["step 5", "NaN or infinite"], file, "--overwrite", "--set", "stencil={ weights=[[1e99]] }", ranks=ranks)
                self.says(4, "problem.toml/out", file, "--output", file / "out", ranks=ranks)

    def test_set(self):
        file = self.write()
        result = self.run_to(0, file, *spsolve.settings(
            "time.steps=7", "boundary.y.low.dirichlet=1.5", "boundary.y.high=neumann", "output.directory=elsewhere",
            "name=my problem", "compute.precision=fp32"))
        self.assertIn("7 steps", result.out)
        stored = tomllib.loads(json.loads((self.directory / "elsewhere" / "run.json").read_text())["input"])
        self.assertEqual((stored["name"], stored["time"]["steps"], stored["compute"]["precision"]), ("my problem", 7, "fp32"))
        self.assertEqual(stored["boundary"]["y"], {"low": {"dirichlet": 1.5}, "high": "neumann"})
        self.run_to(0, "--set", "time.steps=7", file, "--output", "third")  # --output wins over the file
        self.assertTrue((self.directory / "third" / "run.json").exists())
        for wrong, wanted in (("time.stepz=3", "did you mean 'steps'"), ("tiem.steps=3", "did you mean 'time'"), ("steps", "section.key=value"),
                              ("time.steps='many'", "steps"), ("=3", "--set")):
            with self.subTest(wrong):
                self.says(2, [re.escape(wrong), wanted], file, "--output", "fourth", "--set", wrong)
        self.assertFalse((self.directory / "fourth").exists())

    def test_quiet(self):
        file = self.write()
        for ranks in (None, 3):
            result = self.run_to(0, file, "--quiet", "--overwrite", ranks=ranks)
            self.assertEqual((result.out, result.err), ("", ""))
        result = self.run_to(0, file, "--quiet", "--overwrite", "--set", "stencil={ weights=[[1.1]] }")
        self.assertEqual(result.out, "")
        self.assertIn("warning: the weights amplify", result.err)

    def test_no_control_characters_where_output_is_no_terminal(self):
        file = self.write(time={"steps": 3000, "fuse": 1}, grid={"shape": [300, 300]})
        for ranks in (None, 2):
            result = self.run_to(0, file, "--overwrite", ranks=ranks)
            self.assertNotRegex(result.out + result.err, "[\r\x1b]")

    def test_mistakes_name_line_and_key(self):
        good = '[grid]\nshape = [9, 14]\n[stencil]\npreset = "star2d1r"\n[initial]\nexpression = "x"\n[time]\nsteps = 5\n'
        self.write(good)
        self.run_to(0, "check", "problem.toml")
        for old, new, line, wanted in (
                ("shape", "shap", 2, "did you mean 'shape'"),
                ("[9, 14]", "[9, 0]", 2, "shape"),
                ("[9, 14]", "[9, -14]", 2, "shape"),
                ("[9, 14]", '"9"', 2, "shape"),
                ("[9, 14]", "[9, 14, 3, 2]", 2, "4 axes"),
                ("star2d1r", "star3d1r", 4, "3D"),
                ("star2d1r", "heet", 4, "heat"),
                ('preset = "star2d1r"', 'weights = [[1.0, 2.0], [3.0]]', 4, "rectangular"),
                ('preset = "star2d1r"', 'weights = [1.0]', 4, "nested"),
                ('preset = "star2d1r"', 'weights = [[0.0]]', 4, "weight"),
                ('"x"', '"x +"', 6, "expression"),
                ('"x"', '"z"', 6, "z"),
                ('expression = "x"', 'expression = "x"\nfile = "u.h5"', 7, "file"),
                ("steps = 5", "steps = 5.5", 8, "steps"),
                ("steps = 5", "end = 3.0", 8, "dt"),
                ("steps = 5", "steps = 5\nend = 3.0", 9, "end"),
                ("steps = 5", "steps = 5\nfuse = 0", 9, "fuse"),
                ("steps = 5", "steps = 5\nfuse = 2000000000", 9, "fuse"),
                ("steps = 5", "steps = 5\nsteps = 6", 9, "steps"),
                ("steps = 5", "steps = ", 8, "problem.toml"),
                ("[time]", "[boundary]\nx = 'reflect'\n[time]", 8, "neumann"),
                ("[time]", "[boundary]\nz = 'neumann'\n[time]", 8, "no axis 'z'"),
                ("[time]", "[boundary]\nx = { low = 'periodic', high = 'neumann' }\n[time]", 8, "one face"),
                ("[time]", "[compute]\nprecision = 'fp63'\n[time]", 8, "fp64"),
                ("[time]", "[parallel]\nranks = [10, 1]\n[time]", 8, "10 blocks"),
                ("[time]", "[ouput]\n[time]", 7, "did you mean 'output'")):
            with self.subTest(new):
                self.assertIn(old, good)
                self.write(good.replace(old, new, 1))
                self.says(2, [rf"problem\.toml:{line}\b", wanted], "problem.toml")
        for section in ("grid", "stencil", "initial", "time"):
            with self.subTest(f"no {section}"):
                self.write(re.sub(rf"\[{section}\]\n.*\n", "", good))
                self.says(2, rf"\[{section}\]", "problem.toml", ranks=2)
        self.assertEqual(self.names(), ["problem.toml"])

    def test_missing_files(self):
        self.says(2, "nowhere.toml", "nowhere.toml", ranks=3)
        self.says(2, "nowhere.toml", "check", "nowhere.toml")
        self.says(2, "directory", "check", self.directory)
        self.says(4, "nowhere.h5", "info", "nowhere.h5", ranks=2)
        file = self.write()
        self.says(4, "problem.toml", "info", file)
        self.says(2, "empty", self.write(""))

    def test_input_through_pipes(self):
        """The pipe is that of a shell's process substitution, or of a script. Files in the input are relative to the current
        directory."""
        with h5py.File(self.directory / "u.h5", "w") as data:
            data["u"] = np.arange(126.0).reshape(9, 14)
        elsewhere = self.directory / "elsewhere"
        elsewhere.mkdir()
        file = self.write(initial={"file": "u.h5", "dataset": "u"}).rename(elsewhere / "problem.toml")
        for command, name in ((f"{spsolve.EXECUTABLE} <(cat {file})", None), (f"cat {file} | {spsolve.EXECUTABLE} -", "stdin"),
                              (f"cat {file} | {spsolve.EXECUTABLE} /dev/stdin", "stdin"), (f"{spsolve.EXECUTABLE} - < {file}", "stdin"),
                              (f"cat {file} | {spsolve.MPIEXEC} --oversubscribe -n 2 {spsolve.EXECUTABLE} /dev/stdin", "stdin")):
            with self.subTest(command):
                result = subprocess.run(["bash", "-c", f"{command} --overwrite"], cwd=self.directory, env=spsolve.ENVIRONMENT, capture_output=True, text=True, timeout=60)
                self.assertEqual(result.returncode, 0, result.stderr)
                report = json.loads((self.directory / "out" / "run.json").read_text())
                if name:
                    self.assertEqual(report["name"], name)
        result = subprocess.run([spsolve.EXECUTABLE, "check", "-"], input="[grid]\nshap = 3\n[stencil]\n[initial]\n[time]\n", capture_output=True, text=True, env=spsolve.ENVIRONMENT)
        self.assertRegex(result.stderr, r"error: stdin:2: \[grid\] unknown key")
        self.says(2, "-: is empty", "check", "-")  # the tests' own standard input

    def test_closed_standard_streams(self):
        """No library may take their numbers: `-` would be read from a pipe inside of MPI."""
        file = self.write()
        for command, status, told in (("check - <&-", 2, "-: cannot read: Bad file descriptor"),
                                      (f"check {file} >&-", 4, "standard output: a part of the text cannot be written"),
                                      (f"{file} --quiet <&- >&- 2>&-", 0, "")):
            with self.subTest(command):
                result = subprocess.run(["bash", "-c", f"{spsolve.EXECUTABLE} {command}"], cwd=self.directory, env=spsolve.ENVIRONMENT,
                                        capture_output=True, text=True, timeout=60)
                self.assertEqual(result.returncode, status, result.stderr)
                self.assertIn(told, result.stderr)

    def test_paths_that_reports_cannot_hold(self):
        file = self.write()
        for ranks in (None, 3):
            self.says(2, "UTF-8", file, "--output", os.fsdecode(b"out\xff"), ranks=ranks)
        self.assertEqual(self.names(), ["problem.toml"])

    def test_datasets_that_do_not_fit(self):
        with h5py.File(self.directory / "data.h5", "w") as data:
            data["u"] = np.ones((9, 14))
            data["transposed"] = np.ones((14, 9))
            data["flat"] = np.ones(9 * 14)
            data["text"] = np.full((9, 14), b"text")
            data["hole"] = np.where(np.arange(126).reshape(9, 14) == 17, np.nan, 1.0)
            data["zero"] = np.zeros((3, 3))
            data["w"] = np.ones((3, 3)) / 9
            data["w"].attrs["center"] = [3, 1]
            data["half"] = np.ones((3, 3)) / 9
            data["half"].attrs["center"] = [0.5, 1.5]
            data["mask"] = np.arange(3) > 1
            data.create_dataset("lzf", data=np.ones((9, 14)), compression="lzf")  # a filter of h5py's own
        (self.directory / "text.h5").write_text("no HDF5")
        for section, table, wanted in (
                ("initial", {"file": "data.h5", "dataset": "transposed"}, ["data.h5:/?transposed", r"\(14, 9\)", r"\(9, 14\)"]),
                ("source", {"file": "data.h5", "dataset": "flat"}, ["data.h5:/?flat", r"\(126,\)", r"\(9, 14\)"]),
                ("initial", {"file": "data.h5", "dataset": "text"}, ["data.h5:/?text", "type"]),
                ("initial", {"file": "data.h5", "dataset": "hole"}, ["data.h5:/?hole", "nan", r"\[1, 3\]"]),
                ("initial", {"file": "data.h5", "dataset": "uu"}, ['no dataset "uu"', "did you mean", "u"]),
                ("initial", {"file": "text.h5", "dataset": "u"}, ["text.h5", "HDF5"]),
                ("stencil", {"file": "data.h5", "dataset": "zero"}, ["data.h5:/?zero", "stencil"]),
                ("stencil", {"file": "data.h5", "dataset": "flat"}, ["data.h5:/?flat", "2 axes"]),
                ("stencil", {"file": "data.h5", "dataset": "w"}, ["data.h5:/?w", "cent"]),
                ("stencil", {"file": "data.h5", "dataset": "half"}, ["data.h5:/?half", '"center" is of type float64, wanted integers']),
                ("initial", {"file": "data.h5", "dataset": "lzf"}, ["data.h5:/?lzf", "compressed"])):
            with self.subTest(section=section, table=table):
                file = self.write(**{section: table})
                self.says(2, wanted, file, ranks=3)
                self.says(2, wanted, "check", file)
        self.assertFalse((self.directory / "out").exists())
        text = self.run_to(0, "info", "data.h5").out  # describes what can be told
        self.assertRegex(text, "dataset /lzf: .*cannot be read")
        self.assertRegex(text, "dataset /mask: .*boolean, min 0, max 1")
        self.assertRegex(text, r"dataset /u: shape \(9, 14\), float64, min 1, max 1")

    def test_datasets_as_netcdf_packs_them(self):
        """Values are those that the attributes say; a missing one is refused with its place, in grids and in weights."""
        kelvin = np.linspace(270.0, 300.0, 126).reshape(9, 14)
        packed = np.round((kelvin - 285.0) / 0.001).astype("i2")
        with h5py.File(self.directory / "t.nc", "w") as data:
            def store(name, values, **attributes):
                dataset = data.create_dataset(name, data=values)
                dataset.attrs.update(attributes)
            packing = {"scale_factor": 0.001, "add_offset": np.float32(285.0)}
            hole = packed.copy()
            hole[2, 3] = -32767
            store("packed", packed, **packing, _FillValue=np.int16(-32767))
            store("hole", hole, **packing, _FillValue=np.int16(-32767))
            store("two_marks", hole, missing_value=np.array([-9999, -32767], "i2"))
            store("float", np.where(hole == -32767, np.float32(9.96921e36), 1), _FillValue=np.float32(9.96921e36))
            store("range", hole, valid_min=np.int16(-20000))
            store("limits", hole, valid_range=np.array([-20000, 20000], "i2"))
            store("unsigned", packed, _Unsigned="true")
            store("words", packed, scale_factor="0.001")
            store("nothing", packed, scale_factor=0.0)
            store("no_number", packed, scale_factor=np.zeros(0))
        self.run_to(0, self.write(initial={"file": "t.nc", "dataset": "packed"}, time={"steps": 0}))
        values = spsolve.values(spsolve.snapshots(self.directory / "out")[0])
        self.assertTrue(np.array_equal(values, packed * 0.001 + 285.0))
        for dataset, wanted in (("hole", r"no value at \[2, 3\]: -32767 is its _FillValue"), ("two_marks", r"\[2, 3\].*missing_value"),
                                ("float", r"\[2, 3\].*_FillValue"), ("range", r"is -32767 at \[2, 3\], beyond its valid range"), ("limits", r"valid range \[-20000, 20000\]"),
                                ("unsigned", "_Unsigned"), ("words", '"scale_factor" is of type string'),
                                ("nothing", '"scale_factor" of 0,'), ("no_number", '"scale_factor" of 0 numbers, wanted one')):
            with self.subTest(dataset):
                for ranks in (None, 3):
                    self.says(2, [f"t.nc:{dataset}", wanted], "check", self.write(initial={"file": "t.nc", "dataset": dataset}), ranks=ranks)
        self.says(2, "t.nc:hole.*_FillValue", "check", self.write(stencil={"file": "t.nc", "dataset": "hole"}))

    def test_integers_that_fp64_does_not_hold(self):
        """Integers of 64 bits that would lose digits are refused with their place; other large ones are read."""
        with h5py.File(self.directory / "data.h5", "w") as data:
            def store(name, value, dtype, **attributes):
                values = np.ones((9, 14), dtype)
                values[0, 0], values[2, 3] = 0, value
                data[name] = values
                data[name].attrs.update(attributes)
            store("odd", 2**53 + 1, "i8")
            store("negative", -2**53 - 1, ">i8")
            store("largest", 2**64 - 1, "u8")
            store("even", -2**62 - 2**10, "i8")
            store("hole", -2**63 + 2, "i8", _FillValue=np.int64(-2**63 + 2))
        for dataset, wanted in (("odd", rf"is {2**53 + 1} at \[2, 3\], of which fp64 keeps only {2**53}"), ("negative", rf"is -{2**53 + 1} at \[2, 3\]"),
                                ("largest", rf"is {2**64 - 1} at \[2, 3\]"), ("hole", r"no value at \[2, 3\].*_FillValue")):
            for ranks in (None, 2):
                self.says(2, [f"data.h5:{dataset}", wanted], "check", self.write(initial={"file": "data.h5", "dataset": dataset}), ranks=ranks)
        self.run_to(0, "check", self.write(initial={"file": "data.h5", "dataset": "even"}))
        for number, status in ((2**53 + 1, 2), (-2**63 + 1, 2), (-2**63, 0), (2**60, 0)):
            result = self.run_to(status, "check", self.write(stencil={"weights": [[number]]}, initial={"expression": "0"}))
            if status:
                self.assertRegex(result.err, rf":\d+: \[stencil\] 'weights' is {number}, of which fp64 keeps only")

    def test_datasets_that_are_there_and_do_not_open(self):
        with h5py.File(self.directory / "data.h5", "w") as data:
            data["group/u"] = np.ones((9, 14))
            data["elsewhere"] = h5py.ExternalLink("gone.h5", "/u")
            data["absent"] = h5py.ExternalLink("other.h5", "/v")
            data["nowhere"] = h5py.SoftLink("/nobody")
            data["deep"] = h5py.SoftLink("/gone/group")
            data["type"] = np.dtype("f8")
        with h5py.File(self.directory / "other.h5", "w") as other:
            other["u"] = np.ones((9, 14))
        for dataset, wanted in (("absent", r"is a link to other\.h5:/v, which is not in .*other\.h5"), ("elsewhere", r"is a link to gone\.h5:/u, which cannot be opened"), ("nowhere", "is a link to /nobody, which is not there"),
                                ("deep/u", "is a link to /gone/group, which is not there"), ("group", "is a group"), ("type", "is a type"), ("/", "is a group"), ("group/v", 'no dataset "group/v"')):
            with self.subTest(dataset):
                self.says(2, wanted, "check", self.write(initial={"file": "data.h5", "dataset": dataset}))
        self.assertRegex(self.run_to(0, "info", "data.h5").out, "dataset /elsewhere: is a link to gone.h5:/u")

    def test_files_may_hold_datasets_of_any_type(self):
        """Only numbers are read, and the file of an old format is tried as a whole first."""
        with h5py.File(self.directory / "mixed.h5", "w") as file:
            file["u"] = np.arange(64.0)
            file.create_dataset("names", data=["a", "bb"] * 50, dtype=h5py.string_dtype(), chunks=(10,))
            file.create_dataset("lists", shape=(40,), dtype=h5py.vlen_dtype(np.int32), chunks=(10,))[3] = [1, 2, 3]
            file.create_dataset("pairs", data=np.zeros(40, [("a", "i2"), ("b", "f8")]), chunks=(10,))
            file.create_dataset("rows", data=np.zeros((40, 3), "f4"), chunks=(10, 3))
            file.create_dataset("flags", data=np.ones(40, bool), chunks=(16,))
            file.create_dataset("complex", data=np.ones(40, complex), chunks=(16,))
            file.create_dataset("links", data=[file["u"].ref] * 40, dtype=h5py.ref_dtype, chunks=(16,))
            file.create_dataset("raw", data=np.zeros(40, "V5"), chunks=(16,))
        self.run_to(0, "info", "mixed.h5")
        file = spsolve.write_input(self.directory / "mixed.toml", {
            "grid": {"shape": [64]}, "initial": {"file": "mixed.h5", "dataset": "u"}, "stencil": {"preset": "box1d1r"}, "time": {"steps": 2}})
        self.assertIn("the input is valid", self.run_to(0, "check", file).out)

    def test_datasets_with_holes_that_hdf5_fills(self):
        """HDF5 reads fill values where a source of a virtual dataset, or a raw file, has too few values; this must be an
        error."""
        with h5py.File(self.directory / "parts.h5", "w") as parts:
            parts["low"], parts["high"] = np.ones((5, 14)), np.full((4, 14), 2.0)
        (self.directory / "whole.raw").write_bytes(np.ones((9, 14)).tobytes())
        (self.directory / "short.raw").write_bytes(np.ones((8, 14)).tobytes())
        with h5py.File(self.directory / "data.h5", "w", libver="latest") as data:
            def view(name, *pieces):
                layout = h5py.VirtualLayout((9, 14), "f8")
                for rows, source, shape in pieces:
                    layout[rows] = h5py.VirtualSource("parts.h5", source, shape)
                data.create_virtual_dataset(name, layout, fillvalue=-7.0)
            view("whole", (slice(0, 5), "low", (5, 14)), (slice(5, 9), "high", (4, 14)))
            view("overlap", (slice(0, 5), "low", (5, 14)), (slice(3, 7), "high", (4, 14)))
            view("gap", (slice(0, 5), "low", (5, 14)))
            view("shrunk", (slice(0, 5), "low", (5, 14)), (slice(4, 9), "high", (5, 14)))
            for name in ("whole", "short", "gone"):
                data.create_dataset(f"{name}_raw", (9, 14), "f8", external=[(f"{name}.raw", 0, h5py.h5f.UNLIMITED)])
        for dataset, wanted in (("whole", None), ("overlap", "some of its points have no source"), ("gap", "some of its points have no source"),
                                ("shrunk", r"parts.h5:/?high has shape \(4, 14\), less than is taken"), ("whole_raw", None),
                                ("short_raw", "raw file short.raw, which has 896 bytes of 1008"), ("gone_raw", "raw file gone.raw: No such file")):
            with self.subTest(dataset):
                file = self.write(initial={"file": "data.h5", "dataset": dataset}, time={"steps": 0})
                if wanted:
                    self.says(2, wanted, "check", file)
                else:
                    self.run_to(0, "check", file)

    def test_virtual_datasets_in_a_circle_are_refused(self):
        """The HDF5 library overflows its stack when it reads one."""
        with h5py.File(self.directory / "circle.h5", "w", libver="latest") as data:
            for name, source in (("a", "b"), ("b", "a"), ("self", "self")):
                layout = h5py.VirtualLayout((9, 14), "f8")
                layout[:] = h5py.VirtualSource(".", source, (9, 14))
                data.create_virtual_dataset(name, layout)
        for name in ("a", "self"):
            file = self.write(grid={"shape": [9, 14]}, initial={"file": "circle.h5", "dataset": name})
            self.assertIn("not reached within 8 virtual datasets", self.run_to(2, "check", file).err)
        self.assertEqual(self.run_to(0, "info", "circle.h5").out.count("not reached within 8 virtual datasets"), 3)

    def test_info_does_not_look_through_endless_shapes(self):
        with h5py.File(self.directory / "large.h5", "w") as data:
            data.create_dataset("u", (2**25, 2**20), chunks=(2, 2))[0, 0] = 1.0
            data.create_dataset("none", (2**25, 2**20), chunks=(2, 2))
            data.create_dataset("gaps", (2**15, 2**15), chunks=(1, 1))[0, 0] = 1.0
            data.create_dataset("filled", (2**15, 2**15), chunks=(1, 1), fillvalue=3.0)[0, 0] = 1.0
            data.create_dataset("few", (5, 5), chunks=(2, 2), fillvalue=3.0)[0, 0] = 1.0
        text = self.run_to(0, "info", "large.h5").out
        self.assertRegex(text, r"/u: .*more values than can be looked through")
        self.assertRegex(text, r"/none: .*no values are stored")
        for name in ("gaps", "filled"):
            self.assertRegex(text, rf"/{name}: .*has gaps: 1073741823 of its 1073741824 chunks were never written")
        self.assertRegex(text, r"/few: .*min 1(.0)?, max 3, has gaps: 8 of its 9 chunks were never written")

    def test_chunks_of_any_shape_are_read_by_any_ranks(self):
        """Ranks may share chunks, each of which is decoded by one of them."""
        shape = [70, 61, 83]
        values = np.random.default_rng(5).random(shape)
        with h5py.File(self.directory / "u.h5", "w") as data:
            for name, chunks in (("one", tuple(shape)), ("planes", (1, 61, 83)), ("columns", (70, 3, 5)), ("small", (9, 7, 4))):
                data.create_dataset(name, data=values, chunks=chunks, compression="gzip", compression_opts=1)
            broken = np.array(values)
            broken[60, 50, 40] = np.nan
            data.create_dataset("broken", data=broken, chunks=tuple(shape), compression="gzip")
        weights = {"weights": [[[1.0]]]}
        for name in ("one", "planes", "columns", "small"):
            for ranks in (None, 2, 4, 6):
                with self.subTest(name, ranks=ranks):
                    self.run_to(0, self.write(grid={"shape": shape}, stencil=weights, initial={"file": "u.h5", "dataset": name}, time={"steps": 0}), "--overwrite", ranks=ranks)
                    self.assertTrue(np.array_equal(spsolve.values(spsolve.snapshots(self.directory / "out")[0]), values))
        file = self.write(grid={"shape": shape}, stencil=weights, initial={"file": "u.h5", "dataset": "broken"})
        for ranks in (None, 4):
            self.says(2, r"u.h5:broken is nan at \[60, 50, 40\]", "check", file, ranks=ranks)
        described = self.run_to(0, "info", self.directory / "u.h5").out
        for name in ("one", "planes", "columns", "small"):
            self.assertIn(f"/{name}: shape (70, 61, 83), float64, min {values.min()}, max {values.max()}", described)

    def test_coefficients_that_no_run_can_take(self):
        """The message names the line, the key and the point or the shape, and nothing is written."""
        ones = np.ones((9, 14))
        with h5py.File(self.directory / "model.h5", "w") as data:
            data["c"], data["thin"], data["flat"], data["broken"] = ones, ones[:, 1:], ones.ravel(), ones
            data["broken"][3, 5] = np.nan
        of_file = lambda dataset, name="model.h5": {"file": name, "dataset": dataset}
        for k, wanted in ((of_file("broken"), r"model.h5:broken is nan at \[3, 5\], wanted finite numbers"),
                          (of_file("thin"), r"model.h5:thin has shape \(9, 13\), wanted \(9, 14\)"),
                          (of_file("flat"), r"model.h5:flat has shape \(126,\), wanted \(9, 14\)"),
                          (of_file("thick"), 'model.h5 has no dataset "thick"; did you mean'),
                          (of_file("c", "none.h5"), "none.h5: No such file"),
                          ("c/(x - 2)", r"k 'c/\(x - 2\)' is inf at x = 2, y = 0 \(point \[0, 2\]\)"),
                          ("sqrt(4 - y)", r"k 'sqrt\(4 - y\)' is -?nan at x = 0, y = 5 \(point \[5, 0\]\)")):
            file = self.directory / "problem.toml"
            file.write_text("grid = { shape = [9, 14] }\nfields = { u = { initial = 'x' } }\n"
                            f"[coefficients]\nk = {spsolve.toml(k)}\nc = {spsolve.toml(of_file('c'))}\n"
                            "[equations]\nstep = 'u.next = u + 0.1*k*laplace(u) + c'\n[time]\nsteps = 3\n[output]\ndirectory = 'out'\n")
            for verb, ranks in ((["check"], None), ([], 3)):
                with self.subTest(k=k, verb=verb, ranks=ranks):
                    self.says(2, [r"problem.toml:4: \[coefficients(\.k)?\]", wanted], *verb, file, ranks=ranks)
        self.assertEqual(self.names(), ["model.h5", "problem.toml"])

    def test_ranks_that_do_not_fit(self):
        file = self.write(grid={"shape": [2, 3]})
        self.says(2, "4 blocks, but 3 ranks", file, "--set", "parallel.ranks=[2,2]", ranks=3)
        self.says(2, "4 blocks, but 1 rank to hold them.*--ranks 4", "check", file, "--set", "parallel.ranks=[2,2]")
        self.says(2, "rank|block", file, ranks=7)
        self.run_to(0, file, ranks=6)

    def test_ranks_that_a_run_will_have(self):
        file, deep = self.write(), spsolve.settings("time.fuse=3", "parallel.exchange_every=2", "compute.device=cpu")
        for ranks, verb in itertools.product((None, 3), ("check", "plan")):
            text = self.run_to(0, verb, file, *deep, "--ranks", "4", "--set", "parallel.ranks=[2,2]", ranks=ranks).out
            self.assertRegex(text, r"ranks: 4 as 2 x 2, blocks of 5 x 7 with halos of 6 x 6, 0\.0 MiB of fields per rank")
            self.assertIn("looked at on ", text)
        self.assertIn("values were looked at in 2 of 4 blocks", self.run_to(0, "check", file, "--ranks", "4", ranks=2).out)
        self.assertRegex(self.run_to(0, "check", file, "--ranks", "2", ranks=3).out, "ranks: 2 as (.*\n)*the input is valid\n")
        self.says(2, "rank|block", "plan", file, "--ranks", str(9 * 14 + 1))
        self.assertIn("--help", self.run_to(2, "check", file, "--ranks", "0").err)
        # The grid exceeds the memory of this machine.
        side = int((os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 8) ** 0.5)
        large = [file, *spsolve.settings(f"grid.shape=[{side},{side}]", "compute.device=cpu")]
        self.says(2, "GiB per rank", "check", *large)
        self.assertIn("ranks: 4096 as 64 x 64", self.run_to(0, "check", *large, "--ranks", "4096").out)

    def test_transports_of_gpus_are_none_of_cpus(self):
        file = self.write()
        for verb, transport in itertools.product(([], ["check"], ["plan"]), ("nccl", "peer")):
            self.says(2, [f'transport = "{transport}"', "on the CPU"], *verb, file,
                      *spsolve.settings("compute.device=cpu", f"parallel.transport={transport}"))
        self.assertEqual(self.names(), ["problem.toml"])

    def test_where_no_gpu_is_seen(self):
        """The CPU is taken, with the reason; an input that insists on GPUs is refused with advice. Inputs can be inspected all
        the same, as on login nodes."""
        file = self.write()
        hidden = {"CUDA_VISIBLE_DEVICES": ""}
        why = "CUDA|no NVIDIA driver was found|the driver shows no device"
        text = self.run_to(0, file, ranks=2, environment=hidden).out
        self.assertEqual(len(re.findall(f"^no GPU: .*({why})", text, re.M)), 1, text)
        self.assertEqual(len(re.findall(r"^  rank \d on \S+: \d+ threads$", text, re.M)), 2, text)
        insists = ["--set", "compute.device=cuda"]
        self.says(2, [f'device = "cuda": .*({why})', "use auto or cpu"], file, *insists, "--overwrite", environment=hidden)
        for ranks, settings in ((None, insists), (2, insists), (None, spsolve.settings("parallel.transport=nccl"))):
            for verb, wanted in (("check", "the input is valid"), ("plan", "chosen: ")):
                result = self.run_to(0, verb, file, *settings, ranks=ranks, environment=hidden)
                self.assertIn(wanted, result.out)
                self.assertRegex(result.out, "plan: cuda")
                self.assertRegex(result.err, f"warning: a run would be refused here, .*({why})")
        model = spsolve.SOURCE / "inputs" / "devices" / "a100.toml"
        self.assertIn("chosen: ", self.run_to(0, "plan", file, *insists, "--device-model", model, environment=hidden).out)

    def test_memory_of_files_on_their_way_counts(self):
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        side = int((0.4 * machine / 8) ** 0.5)  # two fields fit, and two copies of them do not
        file = self.write(grid={"shape": [side, side]})
        in_background = spsolve.settings("compute.device=cpu", "output.background=true")
        for verb in (["check"], []):
            self.says(2, ["GiB per rank", "output.background = false"], *verb, file, *in_background)
        # The state has 8 MiB (rows of whole KiB would be padded by a cache line). Copies are two for
        # snapshots, if there are two, and one of the state, unless both are the same.
        for settings, mib in ((["output.background=true"], "16.0"),
                              (["output.background=true", "output.precision=fp32"], "16.0"),
                              (["output.background=true", "output.precision=fp32", "output.every=0"], "12.0"),
                              (["output.background=true", "output.stride=2"], "12.0"),
                              (["output.background=false", "output.stride=2"], "2.0"), (["output.background=false"], None)):
            text = self.run_to(0, "check", file,
                               *spsolve.settings("grid.shape=[1008,1040]", "compute.device=cpu", "output.every=1", *settings)).out
            found = re.search(r"MiB of fields per rank(?:, (\S+) MiB of host memory for files on their way)?", text)
            self.assertEqual(found[1], mib, settings)

    def test_memory_of_output_streams_counts(self):
        """A stream adds two copies of its fields in the background and one else, unless another file shares them. Waves of two
        fields have a state of three arrays. No row of a copy is padded, in fp64 or fp32."""
        mib_of_array = 992 * 1056 * 8 / 2**20
        problem = {"grid": {"shape": [992, 1056]}, "fields.p": {}, "fields.q": {}, "time": {"dt": 0.1, "steps": 1},
                   "equations": {"step": "p.next = 2*p - p.previous + 0.1*laplace(p); q.next = p"}}
        half, one, same = {"name": "half", "stride": 2}, {"name": "one", "stride": 2, "fields": ["p"]}, {"name": "same", "precision": "fp64"}
        for background, streams, arrays in (
                (True, [], 2 + 3),  # a snapshot and a checkpoint of the same points
                (True, [same], 2 + 3),
                (True, [half], 2 + 3 + 2 * 2 / 4),
                (True, [one], 2 + 3 + 2 * 1 / 4),
                (True, [half, one], 2 + 3 + 2 * 2 / 4),
                (True, [{**half, "precision": "fp32"}], 2 + 3 + 2 * 2 / 8),
                (False, [same], 0),
                (False, [half, one], 2 / 4)):
            with self.subTest(background=background, streams=streams):
                file = spsolve.write_input(self.directory / "streams.toml", {
                    **problem, "output": {"background": background},
                    "outputs": [{"every": 1, "precision": "fp64", **stream} for stream in streams]})
                text = self.run_to(0, "check", file, *spsolve.settings("compute.device=cpu", "compute.precision=fp64")).out
                found = re.search(r"of fields per rank(?:, (\S+) MiB of host memory for files on their way)?", text)
                self.assertEqual(found[1], f"{mib_of_array * arrays:.1f}" if arrays else None, text)

    def test_memory_of_sums_counts(self):
        """Sums read a copy of the state of 8 MiB if files are written in the background, and hold the values of a formula."""
        sums = ["grid.shape=[1008,1040]", "compute.device=cpu", "diagnostics.sums={total='u'}"]
        for background, copies in (("true", "24.0"), ("false", None)):  # besides those of the last snapshot and a checkpoint
            text = self.run_to(0, "check", self.write(), *spsolve.settings(*sums, f"output.background={background}")).out
            found = re.search(r"MiB of fields per rank(?:, (\S+) MiB of host memory for files on their way)?, 8.0 MiB of host memory for sums", text)
            self.assertTrue(found, text)
            self.assertEqual(found[1], copies, text)

    def test_halos_deeper_than_memory(self):
        """The message must say how deep halos may be."""
        file = self.write()
        fixed = spsolve.settings("compute.device=cpu")
        for key, value, settings in (("parallel.exchange_every", 64, ["time.fuse=4000"]),
                                     ("time.fuse", 4096, ["grid.shape=[4,6,5]", "stencil.preset=star3d1r"])):
            with self.subTest(key):
                section, name = key.split(".")
                with_value = lambda value: [file, *fixed, *spsolve.settings(*settings, f"{key}={value}")]
                wanted = rf"\[{section}\] {name} = {value} needs halos of .* points around blocks of .*, and at most (\d+) fits"
                self.says(2, wanted, *with_value(value))
                largest = int(re.search(wanted, self.says(2, wanted, "check", *with_value(value), ranks=2).err)[1])
                self.run_to(0, "check", *with_value(largest), ranks=2)
                self.says(2, f"at most {largest} fits", "check", *with_value(largest + 1), ranks=2)

    def test_check_and_plan_write_nothing(self):
        file = self.write(stencil={"weights": [[0.25, 0.5, 0.125]]}, boundary={"x": {"low": {"dirichlet": 2.5}, "high": "neumann"}})
        for ranks in (None, 2):
            result = self.run_to(0, "check", file, ranks=ranks)
            for wanted in ("9 x 14", "dirichlet = 2.5", "+0.125", "MiB", "snapshot", "checkpoint", "valid"):
                self.assertIn(wanted, result.out)
            result = self.run_to(0, "plan", file, ranks=ranks)
            self.assertRegex(result.out, r">\s+fp64\s+scalar")
            chosen = int(re.search(r">\s+fp64\s+scalar\s+none\s+(\d+)", result.out)[1])
        self.assertIn(f"{chosen} steps per launch", result.out)
        self.assertRegex(self.run_to(0, "plan", file, "--set", "time.fuse=5").out, r">\s+fp64\s+scalar\s+none\s+5\b")
        self.assertEqual(self.names(), ["problem.toml"])

    def test_check_lists_weights(self):
        text = self.run_to(0, "check", self.write(stencil={"preset": "random2d3r"}, time={"steps": 1})).out
        self.assertEqual(len(re.findall(r"^  weight \+0\.\d+ at y[+-]\d x[+-]\d$", text, re.M)), 30)
        self.assertIn("\n  and 19 more\n", text)
        self.assertIn(", 1 step\n", text)
        self.assertIn(" 1 step per launch ", text)
        self.assertIn("files: 1 snapshot of", text)
        text = self.run_to(0, "check", self.write(grid={"shape": [40]}, stencil={"preset": "heat1d"}, initial={"expression": "x"})).out
        self.assertIn("LeVeque, Finite Difference Methods for ODEs and PDEs (2007), section 9.1; du/dt = 0.25 d2u/dx2", text)
        self.assertEqual(re.findall("^  weight (.*)$", text, re.M), ["+0.25 at x-1", "+0.5 at x+0", "+0.25 at x+1"])
        bound = float(re.search(r"^error bound per step: (\S+) ", text, re.M)[1])
        self.assertTrue(2**-53 <= bound < 1e-14, bound)

    def test_what_other_languages_write_has_its_own_advice(self):
        file = self.write()
        for formula, advice in (("2x", "'2*x'"), ("sin x", "'sin(x)'"), ("where(x > 1, 1, 0)", "'condition ? a : b'"),
                                ("1 if x > 2 else 0", "'condition ? a : b'"), ("e^x", "'exp(x)'"), ("round(x)", "'rint(x)'"),
                                ("np.sin(x)", "'sin' alone, without 'np.'"), ("2*math.pi*x", "'pi' alone, without 'math.'"),
                                ("jnp.where(x > 1, 1, 0)", "'condition ? a : b'"), ("x.^2", "operators have no point in front"),
                                ("|x|", "'abs(a)'"), ("x²", "'^2'"), ("½*x", "'0.5'"), ("α*x", "letters a to z"), ("sin^2(x)", "'sin(...)^2'"), ("2,5*x", "as in 2.5"), ("π*x", "'pi'"),
                                ("x is 2", "'==' for equality"), ("x =< 2", "wanted '<='"), ("x => 2", "wanted '>='"), ("2(x + 1)", "as in '2*('"),
                                ("(x + 1)(x - 1)", "as in ')*('"), ("Sin(x)", "'sin' in small letters"), ("pi()*x", "without brackets"),
                                ("arcsin(x)", "'asin(x)'"), ("clip(x, 0, 1)", "'clamp(x, low, high)'"), ("rand()", "no random numbers")):
            for section in ("initial", "source"):
                self.assertIn(advice, self.run_to(2, "check", file, "--set", f"{section}.expression={formula}").err)

    def test_help_lists_the_functions_of_formulas(self):
        listed = self.run_to(0, "--help").out.partition("Formulas")[2].partition("files give")[0]
        file = self.write(initial={"expression": "unknown_function(x)"})
        known = re.search(r"wanted one of (.*)", self.run_to(2, "check", file).err)[1]
        functions = set(re.findall(r"\w+", known))
        self.assertGreater(len(functions), 35)
        inverses = {function for function in functions if re.fullmatch("a(sin|cos|tan)h?", function)}  # "and their inverses", "and theirs"
        self.assertEqual(functions - inverses - set(re.findall(r"\w+", listed)), set())

    def test_derivatives_of_other_languages_have_their_own_advice(self):
        file = self.directory / "system.toml"
        def refused(step):
            file.write_text('grid = { shape = [9, 8] }\nconstants = { D = 0.1 }\nfields = { u = { initial = "x" } }\n'
                            f"equations = {{ step = '''\n{step}\n''' }}\ntime = {{ dt = 0.1, steps = 2 }}\n")
            return self.run_to(2, "check", file).err
        for term, advice in (("u + laplacian(u)", "'laplace(e)'"), ("u + u_xx", "'d(u, x, 2)'"), ("u + dudy", "'d(u, y)'"),
                             ("u + grad(u)", "'d(e, x)', one for each axis"), ("u + d2(u, x)", "'d(e, x, 2)'"),
                             ("u + D laplace(u)", "'D*laplace'"), ("u + dx(u)", "'d(e, x)'"), ("if(x < 2, u, 0)", "'condition ? a : b'"), ("PI*u", "'pi' in small letters"),
                             ("∇²u", "'laplace(e)'"), ("∂u", "'d(e, x)'"), ("Δu", "'laplace(e)'"), ("if x < 2 then u else 0", "'condition ? a : b'")):
            with self.subTest(term):
                self.assertIn(advice, refused(f"u.next = {term}"))
        for step in ("u_t = laplace(u)", "dudt = laplace(u)", "du/dt = laplace(u)"):
            self.assertIn("'u.next = u + dt*(...)' for a derivative by time", refused(step))

    def test_growth_of_systems_between_walls(self):
        """Odd waves between walls grow from other time steps on than those of periodic axes; the advised step is stable."""
        def growth(dt, points, walls):
            sections = {"grid": {"shape": [points]}, "boundary": {"x": walls}, "coefficients": {"k": "1 + 0*x"},
                        "fields.u": {"initial": "1 + x"}, "equations": {"step": "u.next = u + dt*k*laplace(u)"},
                        "time": {"dt": dt, "steps": 4000}, "output": {"directory": "out"}}
            file = spsolve.write_input(self.directory / "walls.toml", sections)
            advised = re.search("largest stable time step is about ([0-9.]+)", self.run_to(0, "check", file).err)
            self.run_to(0, file, "--overwrite")
            first, last = spsolve.diagnostics(self.directory / "out")
            return advised and float(advised[1]), float(last["l2"]) / float(first["l2"])
        for points, walls, stable, unstable in ((5, {"dirichlet": 0.0}, 0.535, 0.545), (1, {"dirichlet": 0.0}, 0.99, 1.01),
                                                (4, {"value": 0.0}, 0.499, 0.51), (3, {"low": {"dirichlet": 0.0}, "high": "neumann"}, 0.52, 0.62)):
            with self.subTest(points=points, walls=walls):
                advised, ratio = growth(unstable, points, walls)
                self.assertGreater(ratio, 1e6)
                self.assertLess(growth(advised, points, walls)[1], 1.1)
                advised, ratio = growth(stable, points, walls)
                self.assertIsNone(advised)
                self.assertLess(ratio, 1.1)

    def test_runs_of_systems_warn_of_growth(self):
        """A run does not look for the growth where there are coefficients, and then says so where the solution ends."""
        def run(status, dt, k="1"):
            file = spsolve.write_input(self.directory / "wave.toml", {
                "grid": {"shape": [33]}, "boundary": {"x": {"dirichlet": 0.0}}, "fields.u": {"initial": "sin(3*x)"}, "coefficients": {"k": k} if "x" in k else {},
                "equations": {"step": f"u.next = 2*u - u.previous + dt^2*{'k' if 'x' in k else k}*laplace(u)"},
                "time": {"dt": dt, "steps": 2000}, "output": {"directory": "out"}, "compute": {"device": "cpu"}})
            return self.run_to(status, file, "--overwrite", ranks=2).err
        self.assertRegex(run(3, 1.1), r"warning: the equations amplify some wave by 1 \+ 1.4 per step: .*; spsolve check looks for the largest stable time step\n")
        self.assertIn("the time step may be too long (spsolve check", run(3, 1.1, "1 + 0*x"))
        self.assertRegex(run(3, 1.1, "u"), r"the time step may be too long(?! \()")  # no waves of equations that are not linear are looked at
        self.assertNotIn("amplify", run(0, 0.9))

    def test_waves_that_grow_linearly_are_told(self):
        """At the largest time step the shortest wave has the eigenvalue -1 twice, and one eigenvector."""
        for dt, grows in ((1.0, True), (0.9, False)):
            file = spsolve.write_input(self.directory / "wave.toml", {
                "grid": {"shape": [8]}, "fields.u": {"initial": "cos(pi*x)", "previous": 0.0},
                "equations": {"step": "u.next = 2*u - u.previous + dt^2*laplace(u)"}, "time": {"dt": dt, "steps": 400},
                "output": {"directory": "out"}})
            result = self.run_to(0, "check", file)
            self.assertRegex(result.out, r"spectral radius of a step: (1|1\.0000\d*|0\.9999\d*)\n")
            warning = "spsolve: warning: some wave grows linearly with time, because an eigenvalue of the step is defective\n"
            self.assertEqual(result.err, warning if grows else "")
            self.run_to(0, file, "--overwrite")
            largest = spsolve.diagnostics(self.directory / "out")[-1]["max"]
            self.assertAlmostEqual(largest, 401, places=6) if grows else self.assertLess(largest, 3)

    def test_growth_of_stencils_beside_walls_that_equations_take(self):
        """The weights of a preset change with its time step, and the advised step is stable; own weights have none to advise."""
        walls = {"boundary": {"x": {"low": {"value": 0.0}, "high": {"robin": {"h": 2.0, "value": 0.0}}}}, "grid": {"shape": [9]},
                 "time": {"steps": 4000}, "initial": {"expression": "sin(7*x)"}, "output": {"directory": "out"}}
        def check(dt, order):
            file = spsolve.write_input(self.directory / "preset.toml", {**walls, "stencil": {"preset": "heat", "diffusivity": 1.0, "order": order, "dt": dt}})
            return file, re.search("largest stable time step is about ([0-9.]+)", self.run_to(0, "check", file).err)
        for order, limit in ((2, 0.5), (4, 0.375)):
            advised = float(check(0.55, order)[1][1])
            self.assertAlmostEqual(advised, limit, delta=0.02)
            file, warned = check(advised, order)
            self.assertIsNone(warned)
            self.run_to(0, file, "--overwrite")
            first, last = spsolve.diagnostics(self.directory / "out")
            self.assertLess(last["l2"], first["l2"])
        own = self.run_to(0, "check", spsolve.write_input(self.directory / "own.toml", {**walls, "stencil": {"weights": [0.6, -0.2, 0.6]}})).err
        self.assertRegex(own, r"amplify some wave by 1 \+ [0-9.]+ per step: the solution may grow without bound\n")

    def test_growth_that_rounding_explains_is_no_warning(self):
        with h5py.File(self.directory / "weights.h5", "w") as data:
            data["rounded"] = np.array([[0.1, 0.8, 0.1]], np.float32)  # sum 1.0000000149
            data["grows"] = np.array([[0.1, 0.8001, 0.1]], np.float32)
            data["exact"] = np.array([[0.1, 0.8 + 1.49e-8, 0.1]])
        for dataset, growth in (("rounded", None), ("grows", "0.0001"), ("exact", "1.5e-08")):
            result = self.run_to(0, "check", self.write(stencil={"file": "weights.h5", "dataset": dataset}))
            self.assertEqual(re.findall(r"amplify some wave by 1 \+ (\S+) per step", result.err), [growth] if growth else [], dataset)

    def test_check_counts_files(self):
        file = self.write(time={"steps": 25}, output={"directory": "out", "every": 10}, checkpoint={"every": 5, "keep": 2**31 - 1})
        self.assertRegex(self.run_to(0, "check", file).out, f"files: 4 snapshots of .*; up to {2**31} checkpoints of .*, "
                         rf"in {self.directory}/out \(file system of {self.directory}: .* free\)")
        streams = [{"name": "half", "every": 10, "stride": 2}, {"name": "timely", "every_time": 1.25, "compression": "deflate"}, {"name": "last"}]
        counted = self.run_to(0, "check", spsolve.write_input(self.directory / "streams.toml", {
            **tomllib.loads(file.read_text()), "time": {"steps": 25, "dt": 0.5}, "outputs": streams})).out
        # By time: at the steps 0, 3, 5, 8, 10, ..., 25.
        self.assertRegex(counted, "files: 4 snapshots of .*; 4 half files of .*; 11 timely files of .* before deflate shrinks them; 1 last file of .*; up to")
        # Steps from 0 to 2^26: rows of two points in fp64, a step and a time.
        long = {"images": [{"name": "i", "value": "u", "every": 2**24}], "probes": [{"name": "p", "at": [[1.0, 2.0], [3.0, 4.5]]}]}
        counted = self.run_to(0, "check", spsolve.write_input(self.directory / "long.toml", {
            **tomllib.loads(file.read_text()), **long, "time": {"steps": 2**26}, "diagnostics": {"every": 1}})).out
        self.assertRegex(counted, "; 5 i images of at most 1.1 MiB = at most 5.4 MiB; 1 probes.h5 of 2.0 GiB; 1 diagnostics.csv of at most 10.6 GiB; up to")
        result = self.run_to(0, "check", file, "--set", f"output.directory='{file}/out'")
        self.assertRegex(result.out, r"in (/.*/problem.toml)/out \(file system of \1: .* free, not writable\)")

    def test_files_that_will_not_fit(self):
        """check and a run warn of it before hours have passed."""
        disk = os.statvfs(self.directory)
        free = disk.f_bavail * disk.f_frsize
        file = self.write(stencil={"preset": "heat", "diffusivity": 1.0, "dt": 0.2}, grid={"shape": [1000, 1000]}, time={"steps": 2})
        states = free // 8_000_000
        for setting, warned in (("output.every=1", False), (f"time.steps={3 * states}", False), (f"checkpoint={{every=1, keep={2 * states}}}", True)):
            self.assertEqual("will not fit" in self.run_to(0, "check", file, "--set", setting).err, warned, setting)
        streams = spsolve.settings(f"time.steps={3 * states}", 'outputs=[{name="often", every=1}]')
        self.assertIn("will not fit", self.run_to(0, "check", file, *streams).err)
        far = spsolve.settings(f"time.steps={3 * states}", "output.every=1")
        self.assertRegex(self.run_to(0, "check", file, *far, ranks=2).err, f"warning: files of .* GiB will not fit: .* GiB are free in {self.directory}")
        self.assertNotIn("will not fit", self.run_to(0, "check", file, *far, "--set", "output.stride=100").err)

    def test_small_files_that_will_not_fit(self):
        """Images, rows of probes and rows of diagnostics are small, but there may be many of them."""
        disk, steps = os.statvfs(self.directory), 9 * 10**9
        bytes_of_step = disk.f_bavail * disk.f_frsize // steps
        for section, fits in (({"images": [{"name": "i", "value": "u"}]}, "may not fit"),
                              ({"probes": [{"name": "p", "at": [[1.0, 2.0]] * (bytes_of_step // 8 + 1)}]}, "will not fit"),
                              ({"diagnostics": {"sums": {f"sum{i}": "u" for i in range(bytes_of_step // 25 + 1)}}}, "may not fit")):
            for every, warned in ((1, True), (steps // 4, False)):
                (name, keys), = section.items()
                changes = {name: [{**table, "every": every} for table in keys] if isinstance(keys, list) else {**keys, "every": every}}
                with self.subTest(name, every=every):
                    told = self.run_to(0, "check", self.write(**changes, time={"steps": steps})).err
                    self.assertEqual(re.findall("files of (?:up to )?[0-9.]+ GiB (.*):", told), [fits] * warned, told)

    def test_what_check_prints_is_an_input(self):
        file = self.write(boundary={"x": "neumann"}, diagnostics={"every": 2})
        resolved = self.run_to(0, "check", file).out
        resolved = resolved[:re.search(r"^\S.*: 9 x 14 points", resolved, re.M).start()]
        (self.directory / "resolved.toml").write_text(resolved)
        self.run_to(0, file, "--output", "a")
        self.run_to(0, "resolved.toml", "--output", "b", ranks=2)
        for name in ("snapshot_0000000005.hdf", "diagnostics.csv"):
            self.assertEqual((self.directory / "a" / name).read_bytes(), (self.directory / "b" / name).read_bytes())

    def test_run_json(self):
        self.assertIn("halos by mpi\n", self.run_to(0, self.write(), "--set", "compute.device=cpu", ranks=3).out)
        report = json.loads((self.directory / "out" / "run.json").read_text())
        self.assertEqual((report["ranks"], report["plan"]["unit"], report["finished"]), (3, "scalar", True))
        self.assertEqual((len(report["devices"]), report["transport"]), (3, "mpi"))
        self.assertEqual(np.prod(report["rank_grid"]), 3)
        self.assertGreater(report["seconds"], 0)
        self.assertGreater(report["gstencil_per_s"], 0)
        self.assertEqual(tomllib.loads(report["input"])["grid"]["shape"], [9, 14])
        self.assertIn("spsolve", report["versions"])
        files = report["files"]
        written = [name for name in os.listdir(self.directory / "out") if name.startswith(("snapshot_", "checkpoint_"))]
        self.assertEqual(files["written"], len(written))
        self.assertEqual(list(files["seconds_per_file"]), ["copy", "layout", "values", "flush", "turn"])
        self.assertGreater(files["seconds_per_file"]["values"], 0)

    def test_doctor(self):
        text = self.run_to(0, "doctor", ranks=2).out
        for wanted in ("spsolve", "HDF5", "MPI", "ranks", "2", "memory", "CUDA-aware", "cache", "output"):
            self.assertIn(wanted, text)
        self.assertEqual(self.names(), [])

    def test_threads_that_only_some_ranks_are_told_of(self):
        # A launcher may pass the variable on only to ranks of its own machine.
        doctors = [["-n", "1", "env", *of_rank, spsolve.EXECUTABLE, "doctor"] for of_rank in (["OMP_NUM_THREADS=1"], ["-u", "OMP_NUM_THREADS"])]
        run = subprocess.run([spsolve.MPIEXEC, "--oversubscribe", *doctors[0], ":", *doctors[1]], env=spsolve.ENVIRONMENT,
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=spsolve.LONGEST)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"ranks +2 on 1 host\(s\), 1 threads each")

    def test_a_limit_of_threads_counts(self):
        file = self.write(time={"steps": 1})
        result = self.run_to(0, file, *spsolve.settings("compute.device=cpu"),
                             environment={"OMP_NUM_THREADS": "3", "OMP_THREAD_LIMIT": "2"})
        self.assertRegex(result.out, r"rank 0 on .*: 2 threads")

    def test_numbers_of_threads_that_openmp_does_not_read(self):
        """The OpenMP library ignores them, so ranks divide their cores as if the variable were not set."""
        def threads(**environment):
            others = {key: value for key, value in spsolve.ENVIRONMENT.items() if key != "OMP_NUM_THREADS"}
            run = subprocess.run([spsolve.MPIEXEC, "--oversubscribe", "--bind-to", "none", "-n", "2", spsolve.EXECUTABLE, "doctor"], cwd=self.directory,
                                 env=others | environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=spsolve.LONGEST)
            self.assertEqual(run.returncode, 0, run.stderr)
            return re.search(r"(\d+) threads each", run.stdout)[1]
        divided = threads()
        other = str(int(divided) + 1)
        if len(os.sched_getaffinity(0)) > 1:  # else the OpenMP library starts one thread, too
            for text in ("", "0", "-3", "two", "2 cores", "1,0", f"{other},", "99999999999999999999"):
                self.assertEqual(threads(OMP_NUM_THREADS=text), divided, text)
        for text in (other, f" {other} ", f"{other},2"):
            self.assertEqual(threads(OMP_NUM_THREADS=text), other, text)

    def test_more_threads_than_can_run_are_told(self):
        file, cores = self.write(time={"steps": 1}), len(os.sched_getaffinity(0))
        told = f"OMP_NUM_THREADS = {cores + 1} makes {cores + 1} threads on "
        for threads in (1, cores + 1):
            result = self.run_to(0, file, "--overwrite", *spsolve.settings("compute.device=cpu"), environment={"OMP_NUM_THREADS": str(threads)})
            self.assertEqual(told in result.out, threads > cores, result.out)

    def test_cores_that_lie_idle(self):
        """mpirun binds one or two ranks to a core each: a run says how many cores nobody uses, and what to type."""
        file = self.write(time={"steps": 1})
        environment = {key: value for key, value in spsolve.ENVIRONMENT.items() if key != "OMP_NUM_THREADS"}
        def run(binding, ranks):
            """Returns what a run prints, and its threads."""
            result = subprocess.run([spsolve.MPIEXEC, "--oversubscribe", "--bind-to", binding, "-n", str(ranks), spsolve.EXECUTABLE, file, "--overwrite",
                                     *spsolve.settings("compute.device=cpu")], cwd=self.directory, env=environment, stdin=subprocess.DEVNULL,
                                    capture_output=True, text=True, timeout=spsolve.LONGEST)
            self.assertEqual(result.returncode, 0, result.stderr)
            return result.stdout, sum(map(int, re.findall(r"^  rank \d+ on .*?(\d+) threads", result.stdout, re.M)))
        unbound, most = run("none", 1)  # heeds quotas
        self.assertNotIn("lie idle", unbound)
        for ranks in (1, 2):
            bound, threads = run("core:overload-allowed", ranks)
            told = re.search(r"^(\d+) of (\d+) cores of \S+ lie idle: mpirun has bound (\d+) ranks? .*--bind-to none", bound, re.M)
            self.assertEqual(told is not None, threads < most, bound)
            if told:
                self.assertEqual(tuple(map(int, told.groups())), (most - threads, most, ranks))

    def test_cores_that_srun_leaves_idle(self):
        """srun binds a rank to the one core that it asks for by default, though the job has more on the machine."""
        file = self.write(time={"steps": 1})
        cores = os.sched_getaffinity(0)
        environment = {key: value for key, value in spsolve.ENVIRONMENT.items() if key != "OMP_NUM_THREADS"} | {"SLURM_PROCID": "0"}
        def run(on_node):
            return subprocess.run(["taskset", "-c", str(min(cores)), spsolve.EXECUTABLE, file, "--overwrite", *spsolve.settings("compute.device=cpu")], cwd=self.directory,
                                  env=environment | {"SLURM_CPUS_ON_NODE": on_node}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=spsolve.LONGEST)
        unbound = subprocess.run([spsolve.EXECUTABLE, "doctor"], env=environment, capture_output=True, text=True, timeout=spsolve.LONGEST).stdout
        threads = int(re.search(r"(\d+) threads each", unbound)[1])  # heeds quotas
        # Slurm may be told of more processors than there are. Then all count, also those that this test may not use.
        for on_node in (str(len(cores)), *["4096"] * (len(cores) == os.cpu_count())):
            told = re.search(r"^(\d+) of (\d+) cores of \S+ lie idle: srun has .*--cpus-per-task", run(on_node).stdout, re.M)
            self.assertEqual(told is not None, threads > 1)
            if told:
                self.assertEqual(int(told[1]) + 1, int(told[2]))
                self.assertLessEqual(int(told[2]), os.cpu_count())
        self.assertNotIn("lie idle", run("1").stdout)

    def test_processes_that_do_not_see_each_other(self):
        file = self.write()
        self.run_to(0, file, "--output", "made")
        snapshot = max(spsolve.snapshots(self.directory / "made").values())
        # These verbs do not run, so they work in any shell.
        verbs = [["--help"], ["--version"], ["keys"], ["doctor"], ["check", file], ["plan", file], ["info", snapshot], ["new", "heat", "-"],
                 ["plot", snapshot, "-o", "u.png"], ["bench", "--help"]]
        for variable in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"):
            with self.subTest(variable):
                alone = {variable: "4"}
                self.says(2, ["started 4 processes", "srun --mpi=pmix", f"env -u {variable}"], file, environment=alone)
                self.says(2, "started 4 processes", "bench", environment=alone)
                for arguments in verbs:
                    self.run_to(0, *arguments, environment=alone)
        # A shell that a rank has started inherits the number of the rank.
        for variable in ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"):
            for arguments in verbs:
                self.assertNotEqual(self.run_to(0, *arguments, environment={variable: "1"}).out, "", (variable, arguments))
        self.assertFalse((self.directory / "out").exists())
        # MPI cannot start a run with the first of these settings, of which `slurm` is a shell that srun has started; the daemon and the
        # directory of the others are not needed.
        nothing = "nothing_of_that_name"
        slurm = {"SLURM_JOB_ID": "7", "SLURM_JOBID": "7", "SLURM_NODELIST": "n1", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0"}
        for broken, runs in (({"OMPI_MCA_pml": nothing, "OMPI_MCA_btl": nothing}, False), ({"FLUX_JOB_ID": "1"}, False), (slurm, False), ({"ALPS_APP_ID": "1"}, False),
                             ({"PMIX_MCA_gds": nothing}, True), ({"OMPI_MCA_orte_tmpdir_base": "/proc"}, True)):
            result = spsolve.run(file, "--overwrite", environment=broken)
            self.assertEqual(result.status == 0, runs, f"{broken}: {result}")
            for arguments in (*verbs, ["--wrong"]):
                with self.subTest(broken=broken, arguments=arguments):
                    self.run_to(2 if arguments == ["--wrong"] else 0, *arguments, environment=broken)

    def test_ranges_of_values_and_zeros(self):
        """check prints the range of values, and both check and a run warn of values that are zero everywhere."""
        with h5py.File(self.directory / "u.h5", "w") as data:
            data["zero"], data["u"] = np.zeros((9, 14)), np.linspace(-1.5, 2.0, 126).reshape(9, 14)
        dataset = lambda name: {"file": "u.h5", "dataset": name}
        nothing = {"expression": "0"}
        for initial, source, ranges, zeros in (
                ({"expression": "x * y"}, {"expression": "x == 0.3 ? 1 : 0"}, ["[initial]: from 0 to 104", "[source]: from 0 to 0"], ["source"]),
                (nothing, {"expression": "x > 100 ? 1 : 0"}, ["[initial]: from 0 to 0"], ["source"]),
                (nothing, None, ["[initial]: from 0 to 0"], []), ({"expression": "max(0, exp(0) - 1)"}, None, [], []),
                (dataset("zero"), dataset("u"), ["[source]: from -1.5 to 2"], []), (dataset("zero"), None, [], ["initial"]), ({"expression": "0 * x"}, dataset("zero"), [], ["initial", "source"])):
            with self.subTest(initial=initial, source=source):
                file = self.write(initial=initial, **({"source": source} if source else {}))
                for verb, ranks in (["check"], None), (["check"], 3), ([], 2):
                    result = self.run_to(0, *verb, file, *([] if verb else ["--overwrite"]), ranks=ranks)
                    self.assertEqual(sorted(re.findall(r"warning: the values of \[(\w+)\] are zero everywhere", result.err)), zeros, result.err)
                    for text in ranges if verb else []:
                        self.assertIn(f"values of {text}\n", result.out)

    def test_coefficients_of_zeros_are_told(self):
        with h5py.File(self.directory / "k.h5", "w") as data:
            data["zero"], data["k"] = np.zeros((9, 14)), np.ones((9, 14))
        for coefficient, told in (("zero", True), ("k", False)):
            file = spsolve.write_input(self.directory / "system.toml", {
                "grid": {"shape": [9, 14]}, "fields.u": {"initial": "x"}, "coefficients": {"k": {"file": "k.h5", "dataset": coefficient}},
                "equations": {"step": "u.next = u + dt*k*laplace(u)"}, "time": {"dt": 0.1, "steps": 2}, "output": {"directory": "out"}})
            for verb in (["check"], []):
                error = self.run_to(0, *verb, file, *([] if verb else ["--overwrite"])).err
                self.assertEqual("the values of [coefficients.k] are zero everywhere" in error, told, error)

    def test_sources_that_are_zero_at_all_times(self):
        """A source may depend on time and still be zero at all points of the grid."""
        grid = {"shape": [9, 14]}
        with h5py.File(self.directory / "signals.h5", "w") as data:
            data["zero"], data["u"] = np.zeros(1000), np.arange(1000.0)
        for formula, silent in (("sin(t)*(x == 3.5)", True), ("x > 100 ? t : 0", True), ("sin(t)*(x == 3)", False), ("t > 1e9 ? x : 0", True), ("step < 1 ? x : 0", False)):
            file = self.write(grid=grid, source={"expression": formula})
            for verb in (["check"], []):
                error = self.run_to(0, *verb, file, *([] if verb else ["--overwrite"])).err
                self.assertEqual("[source] are zero everywhere at all times" in error, silent, (formula, error))
        for value, silent in (("0*sin(t)", True), (0.0, True), ("0*x", True), ("t < 0 ? 1 : 0", True), (1.0, False), ("x - 3", False),
                              ({"file": "signals.h5", "dataset": "zero"}, True), ({"file": "signals.h5", "dataset": "u"}, False)):
            file = self.write(grid=grid, point_sources=[{"at": [3.0, 3.0], "value": value}])
            for verb in (["check"], []):
                error = self.run_to(0, *verb, file, *([] if verb else ["--overwrite"])).err
                self.assertEqual("[point_sources] are zero at all times" in error, silent, (value, error))

    def test_values_beyond_the_format_of_the_run(self):
        """check says what a run finds only after it has begun."""
        for precision, initial, words in (("fp16", "1e6*x", "reach 13000000, beyond the range of fp16"), ("bf16", "1e39*x", "beyond the range of bf16"),
                                          ("fp32", "1e39*x", "beyond the range of fp32"), ("fp64", "1e39*x", None), ("fp16", "1e-9*x", "less than fp16 can hold"),
                                          ("fp32", "1e-47*x", "less than fp32 can hold"), ("bf16", "1e-9*x", None)):
            file = self.write(grid={"shape": [9, 14]}, initial={"expression": initial}, compute={"precision": precision})
            warning = self.run_to(0, "check", file).err
            self.assertTrue(words in warning if words else not warning, (precision, initial, warning))

    def test_keys_and_options_of_elsewhere_have_their_own_advice(self):
        file = self.write()
        for arguments, advice in ((["--steps", "4"], "--set time.steps=4"), (["--steps=4"], "--set time.steps=4"), (["time.steps=4"], "--set time.steps=4"),
                                  (["-n", "4"], "mpirun -n 4"), (["-o", "there"], "--output DIR"), (["--dry-run"], "spsolve check"),
                                  (["--resume"], "--restart latest"), (["--threads", "4"], "OMP_NUM_THREADS=4"), (["--force"], "--overwrite"),
                                  (["--set", "steps=4"], "it is a key of [time]"), (["--set", "compute.device=gpu"], "here it is 'cuda'"),
                                  (["--set", "compute.precision=double"], "here it is 'fp64'")):
            self.assertIn(advice, self.run_to(2, file, *arguments).err)

    def test_texts_that_are_far_too_long_are_named(self):
        """A sparse file takes no space on the disk, but would take all memory."""
        file, sparse = self.write(), self.directory / "sparse.toml"
        sparse.touch()
        os.truncate(sparse, 2**40)
        for arguments in ([sparse], ["check", sparse], ["plan", file, "--device-model", sparse], ["plan", file, "--calibration", sparse]):
            result = spsolve.run(*arguments, cwd=self.directory)
            self.assertNotEqual(result.status, 0)
            self.assertRegex(result.err, r"sparse.toml: has 1099511627776 bytes, wanted a text of 1024 MiB at most")

    def test_limits_of_shells_count(self):
        file = self.write(grid={"shape": [9000, 9000]}, initial={"expression": "1"})
        limited = f"ulimit -v 1200000; exec {spsolve.EXECUTABLE} {file} --set compute.device=cpu"
        result = subprocess.run(["bash", "-c", limited], cwd=self.directory, env=spsolve.ENVIRONMENT, capture_output=True, text=True)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertRegex(result.stderr, r"the run needs 1\.2 GiB per rank .* left by ulimit -v")

    def test_limits_that_leave_no_room_for_libraries_are_named(self):
        """From the limit on at which the libraries of the program can be loaded, a verb either says at once that there is no room, or
        it works, with fewer threads if need be."""
        file = self.write()
        def status(kib, *arguments):
            limited = subprocess.run(["bash", "-c", f"ulimit -{kind} {kib}; exec {spsolve.EXECUTABLE} {' '.join(map(str, arguments))}"], cwd=self.directory,
                                     env={**spsolve.ENVIRONMENT, "OMP_NUM_THREADS": "8", "CUDA_VISIBLE_DEVICES": ""}, capture_output=True, text=True)
            if limited.returncode == 2:
                self.assertRegex(limited.stderr, rf"^spsolve: error: MPI, HDF5 and their threads need [\d.]+ MiB .* left by ulimit -{kind}\n$")
            elif limited.returncode == 0:
                self.assertRegex(limited.stderr, r"^(spsolve: warning: \d of 8 threads can be started: a limit on memory \(ulimit -v\).*\n)?$")
            return limited.returncode, "warning" in limited.stderr
        step = 16000
        for kind in "vd":
            lowest = next((kib for kib in range(step, 1600000, step) if status(kib, "--version")[0] == 0), None)
            if lowest is None:
                self.skipTest("sanitizers reserve more address space")
            launched = subprocess.run([spsolve.MPIEXEC, "--oversubscribe", "-n", "3", "bash", "-c", f"ulimit -{kind} {lowest + step}; exec {spsolve.EXECUTABLE} {file}"],
                                      cwd=self.directory, env=spsolve.ENVIRONMENT, capture_output=True, text=True)
            self.assertEqual(launched.stderr.count("spsolve: error: MPI, HDF5 and their threads need"), 1, launched.stderr)
            for arguments in ([file, "--overwrite", "--set", "compute.device=cpu"], ["check", file], ["doctor"]):
                found = [status(kib, *arguments) for kib in range(lowest, lowest + 12 * step, step)]
                first = found.index((0, True)) if (0, True) in found else found.index((0, False))
                self.assertGreater(first, 0)
                self.assertEqual(found[:first], [(2, False)] * first)
                self.assertEqual({code for code, _ in found[first:]}, {0}, (kind, arguments, found))
                self.assertEqual(found[-1], (0, False), found)

    def test_time_of_own_weights(self):
        """[time] dt is the length of a step of weights, files and benchmark shapes; the report at the end says which time was
        reached."""
        own = {"weights": [[0.25, 0.5, 0.25]]}
        for stencil, time, steps, end in ((own, {"steps": 100, "dt": 0.002}, 100, 0.2), (own, {"end": 0.0095, "dt": 0.002}, 5, 0.01),
                                          ({"preset": "star2d1r"}, {"end": 3.0, "dt": 0.5}, 6, 3.0), (own, {"steps": 7}, 7, 7.0)):
            with self.subTest(time):
                file = self.write(stencil=stencil, time=time)
                text = self.run_to(0, file, "--overwrite", "--set", "checkpoint.final=true", ranks=2).out
                self.assertEqual(f", {steps} steps of {time.get('dt')} to time {end:g}\n" in text, "dt" in time, text)
                last = spsolve.diagnostics(self.directory / "out")[-1]
                self.assertEqual((last["step"], last["time"]), (steps, steps * time.get("dt", 1.0)))
                series = json.loads((self.directory / "out" / "snapshots.hdf.series").read_text())
                self.assertEqual(series["files"][-1]["time"], last["time"])
                resolved = tomllib.loads(json.loads((self.directory / "out" / "run.json").read_text())["input"])
                self.assertEqual(resolved["time"]["dt"], time.get("dt", 1.0))
        self.run_to(0, self.write(stencil=own, time={"steps": 9, "dt": 1.0}), "--restart", "latest")
        self.says(2, "dt differ", self.write(stencil=own, time={"steps": 20, "dt": 0.5}), "--restart", "latest")

    def test_only_verbs_that_compute_start_threads(self):
        """The stacks of 400 threads do not fit the limit, so starting them is noticed."""
        file = self.write()
        self.run_to(0, file)
        snapshot = spsolve.snapshots(self.directory / "out")[5]
        for arguments, starts in ((f"check {file}", True), (f"plan {file}", True), (f"info {snapshot}", False), ("new heat -", False), ("doctor", False)):
            with self.subTest(arguments):
                limited = f"ulimit -v 1200000; OMP_NUM_THREADS=400 exec {spsolve.EXECUTABLE} {arguments}"
                result = subprocess.run(["bash", "-c", limited], cwd=self.directory, env={**spsolve.ENVIRONMENT, "CUDA_VISIBLE_DEVICES": ""},
                                        capture_output=True, text=True)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(" of 400 threads can be started" in result.stderr, starts, result.stderr)

    def test_zero_steps(self):
        self.run_to(0, self.write(time={"steps": 0}), ranks=2)
        values = spsolve.values(spsolve.snapshots(self.directory / "out")[0])
        self.assertTrue(np.array_equal(values, np.outer(np.arange(9.0), np.arange(14.0))))


if __name__ == "__main__":
    unittest.main()
