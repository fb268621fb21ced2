# SPDX-License-Identifier: Apache-2.0
"""spsolve bench: rates and errors as JSON, suites, ceilings, the catalogue."""
import contextlib
import json
import os
import pathlib
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import spsolve


QUICK = [spsolve.EXECUTABLE, "bench", "--shape", "64,64", "--steps", "4", "--device", "cpu", "--no-tune", "--json"]


# This script stands in for ncu. It reports 1,000 of each counter, and hangs at two steps per launch while there is a file "hangs". It
# reports nothing if another one runs on the same GPU.
NCU = """#!/bin/sh
test "$1" = --query-metrics && exit
echo "$CUDA_VISIBLE_DEVICES $OMP_NUM_THREADS $TMPDIR $*" >> calls
case "$*" in *"--fuse 2"*) if test -e hangs; then sleep 600 & echo $! > child; wait; fi;; esac
mkdir "busy-$CUDA_VISIBLE_DEVICES" || exit 1
sleep 0.2
while test "$1" != --metrics; do shift; done
names=$(echo "$2" | sed 's/,/","/g')
echo "\\"ID\\",\\"Kernel Name\\",\\"$names\\""
echo "\\"\\",\\"\\""
echo "\\"0\\",\\"march\\",$(echo "$2" | sed 's/[^,]*/"1,000"/g')"
rmdir "busy-$CUDA_VISIBLE_DEVICES"
"""


class Counters(spsolve.TestCase):
    def setUp(self):
        super().setUp()
        for name, text in (("ncu", NCU), ("program", "#!/bin/sh\necho $CUDA_VISIBLE_DEVICES $OMP_NUM_THREADS >> compiled\n")):
            (self.directory / name).write_text(text)
            (self.directory / name).chmod(0o755)

    def count(self, depths, *options, **changes):
        """Counts rows with these numbers of steps per launch and changes, and returns the numbers of those that are counted."""
        case = {"stencil": "star2d1r", "shape": [10, 10], "precision": "fp64", "unit": "scalar", "layout": "none", **changes}
        (self.directory / "cases.json").write_text(json.dumps([{**case, "fuse": fuse} for fuse in depths]))
        environment = {**spsolve.ENVIRONMENT, "OMP_NUM_THREADS": "9", "PATH": f"{self.directory}:{os.environ['PATH']}"}
        subprocess.run([sys.executable, "-B", spsolve.SOURCE / "bench" / "counters.py", "program", "cases.json", "counted.json", "--work",
                        "--each", "5", *options], cwd=self.directory, env=environment, check=True, stdout=subprocess.DEVNULL, timeout=120)
        return [row["fuse"] for row in json.loads((self.directory / "counted.json").read_text())]

    def calls(self):
        """Returns GPU, threads, directory of temporary files and command of each call of ncu."""
        return [line.split(" ", 3) for line in (self.directory / "calls").read_text().splitlines()]

    def test_a_row_that_hangs_costs_that_row_alone(self):
        """Its processes are ended, the others are kept, and the next call counts only what is missing."""
        (self.directory / "hangs").touch()
        self.assertEqual(self.count((1, 2, 3)), [1, 3])
        child = int((self.directory / "child").read_text())
        self.assertFalse(spsolve.alive(child), "what ncu runs is ended with it")
        (self.directory / "hangs").unlink()
        self.assertEqual(self.count((1, 2, 3)), [1, 3, 2])
        self.assertEqual(len(self.calls()), 4)

    def test_rows_are_dealt_to_gpus(self):
        """A GPU counts one row at a time, since ncu cannot share one. Processes side by side share the cores, but no lock file."""
        depths = range(1, 9)
        self.assertEqual(sorted(self.count(depths, "--gpus", "3,5", "--compile", "4")), [*depths])
        gpus, threads, directories, _ = zip(*self.calls())
        self.assertGreater(min(map(gpus.count, ("3", "5"))), 1, "both GPUs count")
        self.assertEqual(len(set(directories)), 8)
        threads_of = lambda processes: str(max(1, os.cpu_count() // processes))
        self.assertEqual(set(threads), {threads_of(2)})
        compiled = sorted((self.directory / "compiled").read_text().splitlines())
        self.assertEqual(compiled, [f"3 {threads_of(4)}"] * 4 + [f"5 {threads_of(4)}"] * 4, "all rows are compiled first")

    def test_dense_wgmma_is_counted_without_instructions_of_threads(self):
        """The kernel would not end (docs/log/sweet-spot.md)."""
        dense = {"precision": "fp16", "unit": "tensor", "layout": "strided-swap"}
        self.count((1,), **dense)
        self.count((2,), **dense | {"unit": "sparse-tensor"})
        self.assertEqual(["op_fadd" in command for *_, command in self.calls()], [False, True])


class Bench(spsolve.TestCase):
    """Most runs find the ceilings of this machine in a cache. To measure them takes as long as fifty small cases."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cache = {"XDG_CACHE_HOME": cls.enterClassContext(tempfile.TemporaryDirectory())}
        subprocess.run([spsolve.EXECUTABLE, "bench", "--device", "cpu", "--suite", "ceilings"], env={**spsolve.ENVIRONMENT, **cls.cache},
                       check=True, stdout=subprocess.DEVNULL, timeout=300)

    def bench(self, status, *arguments, **options):
        """Runs `spsolve bench` with the known ceilings, and asserts the exit status."""
        return self.run_to(status, "bench", *arguments, environment=self.cache, **options)

    def bench_to(self, target, **options):
        """Writes results to something that is no regular file."""
        result = subprocess.run([*QUICK, target], cwd=self.directory, env={**spsolve.ENVIRONMENT, **self.cache}, stderr=subprocess.PIPE,
                                text=True, timeout=60, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def test_a_layout_that_the_device_lacks_is_replaced_aloud(self):
        """Else a rate would stand for a layout that did not run. A suite says it once, not for each case."""
        def layouts(layout, *options):
            """Returns the layouts that ran, and how often they were said to replace this one."""
            said = self.bench(0, "--device", "cpu", "--shape", "16,16", "--steps", "2", "--unit", "tensor", "--layout", layout,
                              "--json", "rows.json", *options).err
            rows = json.loads((self.directory / "rows.json").read_text())
            return [row["layout"] for row in rows], said.count(f'layout = "{layout}": here it is "dual-tessellation"')

        self.assertEqual(layouts("natural-order"), (["dual-tessellation"], 1))
        self.assertEqual(layouts("dual-tessellation"), (["dual-tessellation"], 0))
        self.assertEqual(layouts("natural-order", "--stencil", "star2d1r", "--precision", "fp64", "--suite", "walls"),
                         (["dual-tessellation"] * 2, 1))

    def test_json_to_what_is_no_file(self):
        """A link, a pipe and a device must stay what they are."""
        (self.directory / "old.json").write_text("old")
        (self.directory / "link.json").symlink_to("old.json")
        self.bench_to("link.json", stdout=subprocess.DEVNULL)
        self.assertTrue((self.directory / "link.json").is_symlink())
        self.assertEqual(len(json.loads((self.directory / "old.json").read_text())), 1)
        pipe = self.directory / "pipe"
        os.mkfifo(pipe)
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
            self.bench_to("pipe", stdout=subprocess.DEVNULL)
            self.assertEqual(len(json.loads(reader.communicate(timeout=30)[0])), 1)
        self.assertTrue(pipe.is_fifo())
        if os.geteuid() == 0:
            with contextlib.suppress(PermissionError):
                os.mknod(self.directory / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
                self.bench_to("null", stdout=subprocess.DEVNULL)
                self.assertTrue((self.directory / "null").is_char_device())

    def test_json_to_standard_output(self):
        """Nothing else may be printed there, so that other programs can read it."""
        for target in ("-", "/dev/stdout", "/dev/fd/1"):
            with self.subTest(target):
                result = self.bench_to(target, stdout=subprocess.PIPE)
                self.assertEqual(len(json.loads(result.stdout)), 1)
                self.assertIn("star2d1r", result.stderr)
                with open(self.directory / "file", "w") as file:
                    self.bench_to(target, stdout=file)
                self.assertEqual(len(json.loads((self.directory / "file").read_text())), 1)

    def test_bench_json(self):
        keys = {"stencil", "shape", "steps", "precision", "unit", "layout", "fuse", "device", "seconds", "gstencil_per_s", "bytes_per_point",
                "roofline_fraction", "error_l2", "error_max", "compute_fraction", "taps", "model"}
        for ranks, stencil, shape, precision, bound in ((None, "star2d1r", [61, 70], "fp64", 1e-14), (2, "box3d1r", [11, 12, 13], "fp32", 1e-6),
                                                        (None, "1d2r", [997], "bf16", 1e-2)):
            with self.subTest(stencil):
                result = self.bench(0, "--stencil", stencil, "--shape", ",".join(map(str, shape)), "--steps", "6", "--fuse", "3",
                                     "--precision", precision, "--json", "bench.json", ranks=ranks)
                (row,) = json.loads((self.directory / "bench.json").read_text())
                self.assertLessEqual(keys, set(row))
                self.assertLessEqual({"C_flop", "M_bytes", "I_flop_per_byte", "alpha", "S", "scenario"}, set(row["model"]))
                self.assertEqual((row["stencil"], row["shape"], row["precision"], row["fuse"], row["steps"]), (stencil, shape, precision, 3, 6))
                self.assertAlmostEqual(row["gstencil_per_s"], np.prod(shape) * 6 / row["seconds"] / 1e9, delta=1e-6 * row["gstencil_per_s"])
                self.assertLess(row["error_l2"], bound)
                self.assertIn(stencil, result.out)
        for boundary in ("dirichlet", "neumann"):  # one box holds both walls, others one, or none
            for source in (False, True):
                with self.subTest(boundary, source=source):
                    self.bench(0, "--stencil", "box2d3r", "--shape", "45,300", "--steps", "6", "--fuse", "3", "--boundary", boundary,
                                *["--source"] * source, "--json", "bench.json", ranks=2)
                    (row,) = json.loads((self.directory / "bench.json").read_text())
                    self.assertEqual(row["source"], source)
                    self.assertLess(row["error_l2"], 1e-14)
        problem = spsolve.write_input(self.directory / "problem.toml", spsolve.awkward_problem(time={"steps": 5}, compute={"precision": "fp32"}))
        self.bench(0, "--input", problem, "--json", "bench.json")
        (row,) = json.loads((self.directory / "bench.json").read_text())
        self.assertLess(row["error_l2"], 1e-5)
        self.assertGreater(row["error_l2"], 0)
        case = ["--device", "cpu", "--stencil", "star2d1r", "--shape", "300,200", "--steps", "8"]
        self.assertNotIn("tun", self.bench(0, *case).out)  # by itself on GPUs only
        self.assertRegex(self.bench(0, *case, "--tune").out, "tuning:|tuned before")
        self.bench(2, "--stencil", "star9d1r")
        error = self.bench(2, "--device", "cpu", "--stencil", "1d1r", "--shape", "1000000000000", ranks=2).err
        self.assertRegex(error, "needs .* GiB per rank and 2 ranks share")
        self.assertIn("use --input", self.bench(2, "--stencil", "heat").err)
        self.bench(2, "--stencil", "star2d1r", "--shape", "5")
        self.assertIn("paper", self.bench(2, "--suite", "nosuch").err)
        self.assertIn("shapes of its own", self.bench(2, "--suite", "paper", "--shape", "5,5").err)
        self.assertIn("shapes of its own", self.bench(2, "--suite", "systems", "--stencil", "wave2_2d", "--shape", "5,5").err)
        self.assertIn("shapes of its own", self.bench(2, "--suite", "layouts", "--stencil", "box2d1r", "--shape", "5,5").err)
        self.assertIn("box2d1r has 2", self.bench(2, "--suite", "paper", "--stencil", "box2d1r", "--shape", "5").err)
        self.assertIn("M,N,K", self.bench(2, "--suite", "gemm", "--shape", "5,5").err)
        self.assertIn("compute capability 9.0", self.bench(2, "--suite", "gemm", "--device", "cpu").err)
        self.assertIn("has no stencils", self.bench(2, "--suite", "gemm", "--stencil", "1d1r").err)
        for suite, ranks in (("layouts", None), ("ablation", 2)):
            self.assertIn(f"--suite {suite}: needs a GPU of compute capability 8.0", self.bench(2, "--suite", suite, "--device", "cpu", ranks=ranks).err)
        self.assertIn("none of its cases", self.bench(2, "--suite", "paper", "--boundary", "neumann").err)
        self.assertIn("none of its cases", self.bench(2, "--suite", "paper", "--stencil", "star9d1r").err)
        huge = ",".join(["4194304"] * 3)  # points overflow 64 bits
        self.assertIn("2^48 points", self.bench(2, "--stencil", "star3d1r", "--shape", huge).err)
        for clash in (["--input", problem, "--shape", "10"], ["--input", problem, "--precision", "fp16"]):
            self.assertIn("excludes", self.bench(2, *clash).err)
        self.bench(2, "--unit", "sparse-tensor", "--device", "cpu")

    def test_bench_of_equations(self):
        """There is no reference for their errors."""
        waves = spsolve.write_input(self.directory / "waves.toml", {
            "grid": {"shape": [40, 50]}, "fields.p": {"initial": "sin(x)"}, "fields.q": {}, "coefficients": {"c": "1 + x/50"},
            "equations": {"step": "p.next = 2*p - p.previous + c*dt^2*laplace(p); q.next = q + p"},
            "time": {"dt": 0.1, "steps": 3}, "compute": {"precision": "fp32"}})
        # Read and written are u and v; and p, p.previous, q and the coefficient, p and q.
        for path, name, shape, precision, bytes_per_point in ((spsolve.SOURCE / "inputs" / "gray_scott.toml", "gray_scott", [128, 128], "fp64", 4 * 8),
                                                              (waves, "waves", [40, 50], "fp32", 6 * 4)):
            for ranks in (None, 2):
                result = self.bench(0, "--input", path, "--device", "cpu", "--steps", "12", "--json", "bench.json", ranks=ranks)
                (row,) = json.loads((self.directory / "bench.json").read_text())
                self.assertEqual((row["stencil"], row["shape"], row["precision"], row["ranks"]), (name, shape, precision, ranks or 1))
                self.assertAlmostEqual(row["gstencil_per_s"], np.prod(shape) * row["steps"] / row["seconds"] / 1e9, delta=1e-6 * row["gstencil_per_s"])
                self.assertEqual(row["bytes_per_point"] * row["fuse"], bytes_per_point)
                self.assertIsNone(row["error_l2"])
                self.assertRegex(result.out, rf"(?m)^{name} .* - +-$")

    def test_bench_of_an_input_takes_of_it_what_is_to_be_solved_alone(self):
        problem = spsolve.write_input(self.directory / "problem.toml", spsolve.awkward_problem(
            time={"steps": 10**9}, parallel={"ranks": [7, 1], "transport": "nccl"}))
        self.bench(0, "--input", problem, "--device", "cpu", "--steps", "10", "--json", "bench.json")
        (row,) = json.loads((self.directory / "bench.json").read_text())
        self.assertLess(row["steps"], 1000)

    def test_bench_goes_on_after_a_case_without_a_plan(self):
        files = []
        for name, unit in (("first", "auto"), ("second", "sparse-tensor"), ("third", "auto")):  # fp64 has no sparse kernels
            files += ["--input", str(self.directory / f"{name}.toml")]
            (self.directory / f"{name}.toml").write_text(
                f'name = "{name}"\n[grid]\nshape = [40]\n[stencil]\npreset = "1d1r"\n[initial]\nexpression = "1"\n[time]\n'
                f'steps = 4\n[compute]\nprecision = "fp64"\nunit = "{unit}"\n')
        out = self.bench(0, *files, "--seconds", "0.001", "--json", "bench.json").out
        self.assertIn("failed: ", out)
        rows = json.loads((self.directory / "bench.json").read_text())
        self.assertEqual([row["stencil"] for row in rows], ["first", "second", "third"])
        self.assertEqual(["error" in row for row in rows], [False, True, False])
        self.assertIn("fp64 has dense tensor cores only", rows[1]["error"])

    def test_catalogue_is_listed_measured_and_solved(self):
        lines = self.run_to(0, "bench", "--list").out.splitlines()
        self.assertGreaterEqual(len(lines), 79)
        record = pathlib.Path(__file__).resolve().parents[2] / "bench" / "results" / "catalogue.txt"  # for docs/guide/catalogue.md
        systems = [line for line in lines if "a case of --suite systems" in line]
        self.assertIn("wave2_1d", [line.split()[0] for line in systems])
        lines = lines[:-len(systems)]
        self.assertEqual(lines, record.read_text().splitlines())
        self.assertGreaterEqual(len({line.split("points, ")[1].split(":")[0] for line in lines}), 9)
        name = lines[-1].split()[0]
        self.assertIn(name, self.run_to(0, "bench", "--stencil", name, "--shape", "9,10,11", "--steps", "2", "--fuse", "1").out)
        self.assertIn("'sobel'", self.run_to(2, "bench", "--stencil", "sobell").err)
        input_file = self.directory / "filter.toml"
        input_file.write_text('[grid]\nshape = [12, 17]\n[stencil]\npreset = "semi-lagrangian2d"\n[initial]\nexpression = "sin(x)"\n'
                              '[time]\nsteps = 4\n')
        self.assertIn("16 taps", self.run_to(0, "check", str(input_file)).out)

    def test_ceilings_are_measured_and_remembered(self):
        environment = {"XDG_CACHE_HOME": str(self.directory / "cache")}
        result = self.run_to(0, "bench", "--suite", "ceilings", "--json", "ceilings.json", ranks=2, environment=environment)
        self.assertIn("exchange of", result.out)
        measured = json.loads((self.directory / "ceilings.json").read_text())
        rates = {rate["name"]: rate for rate in measured["rates"]}
        for name in ("copy", "fma fp32", "fma fp64"):
            self.assertGreater(rates[name]["sustained"], 0)
            self.assertGreaterEqual(rates[name]["boost"], rates[name]["sustained"])
        self.assertEqual(len(measured["exchange"]), 7)
        (remembered,) = (self.directory / "cache" / "spsolve").glob("ceilings-*.json")
        self.assertEqual(json.loads(remembered.read_text()), measured)
        self.assertIn("copy", self.run_to(0, "doctor", environment=environment).out)
        self.assertIn("not measured yet", self.run_to(0, "doctor", environment={"XDG_CACHE_HOME": str(self.directory / "none")}).out)
        for damaged in ("", "no JSON", json.dumps({**measured, "rates": []}), json.dumps({**measured, "rates": [{**measured["rates"][0], "sustained": 0}]})):
            remembered.write_text(damaged)
            self.assertIn("not measured yet", self.run_to(0, "doctor", environment=environment).out)
            self.run_to(0, "bench", "--shape", "64,64", "--steps", "2", environment=environment)

    def test_signals_end_what_is_no_run_at_once(self):
        with spsolve.Job("bench", "--stencil", "star3d1r", "--steps", str(10**6)) as job:
            self.assertIn("what nothing exceeds", job.process.stdout.readline() + job.process.stdout.readline())
            job.process.terminate()
            self.assertEqual(job.process.wait(timeout=30), -signal.SIGTERM)

    def test_a_file_that_cannot_be_written_is_found_before_measuring(self):
        (self.directory / "link").symlink_to(".")
        for path, wanted in (("nowhere/bench.json", "nowhere/bench.json: there is no directory nowhere"), (".", r" \.: is a directory, wanted the name of a file"),
                             ("link", r"link: is a link to \./\.: is a directory")):
            result = self.run_to(4, "bench", "--shape", "64,64", "--json", path)
            self.assertRegex(result.err, wanted)
            self.assertNotIn("GStencil/s", result.out)


if __name__ == "__main__":
    unittest.main()
