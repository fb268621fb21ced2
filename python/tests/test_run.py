# SPDX-License-Identifier: Apache-2.0
"""Solves problems with the real program: arrays, errors, restarts, interrupts, progress."""
import contextlib
import io
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import textwrap
import time
import unittest
from unittest import mock

import h5py
import numpy as np
import support
from support import EXECUTABLE, MPIEXEC, values

import spsolve
from spsolve import launch

Y, X = np.mgrid[0:23, 0:31] * 1.0


def waves(**sections):
    """Describes waves in two materials, in 2D, with axes that all differ."""
    return spsolve.Problem({
        "name": "waves", "grid": {"shape": [23, 31]}, "boundary": {"y": {"low": {"dirichlet": 0.0}, "high": "neumann"}, "x": "neumann"},
        "coefficients": {"c": "x + 2*y < 40 ? 1 : 2"}, "fields": {"p": {"initial": "x*y/64"}},
        "equations": {"step": "p.next = 2*p - p.previous + (c*dt)^2*laplace(p)"}, "time": {"dt": 0.25, "steps": 12}, **sections})


def heat(**sections):
    return spsolve.Problem({"name": "heat", "grid": {"shape": [23, 31]}, "stencil": {"weights": [[0.0, 0.1, 0.0], [0.3, 0.3, 0.1], [0.0, 0.2, 0.0]]},
                            "initial": {"expression": "x + 32*y"}, "source": {"expression": "x < 4 ? 1 : 0"}, "time": {"steps": 7}, **sections})


class Arrays(support.TestCase):
    """An array gives the bits of the formula or list that it stands for, where all numbers are binary fractions."""

    def assert_same(self, one, other, field, step, **options):
        a = values(self.run_problem(one, "one").directory, step, field)
        b = values(self.run_problem(other, "other", **options).directory, step, field)
        self.assertTrue(np.any(a))
        np.testing.assert_array_equal(a, b)

    def test_coefficients_and_initial_values(self):
        self.assert_same(waves(), waves(coefficients={"c": np.where(X + 2 * Y < 40, 1.0, 2.0)}, fields={"p": {"initial": X * Y / 64}}), "p", 12, ranks=2)

    def test_previous(self):
        self.assert_same(waves(fields={"p": {"initial": "x", "previous": "y*x/8"}}), waves(fields={"p": {"initial": "x", "previous": Y * X / 8}}), "p", 12)

    def test_stencil_initial_and_source(self):
        weights = np.array([[0.0, 0.1, 0.0], [0.3, 0.3, 0.1], [0.0, 0.2, 0.0]])
        self.assert_same(heat(), heat(stencil=weights, initial=X + 32 * Y, source=np.where(X < 4, np.float32(1), np.float32(0))), "u", 7, ranks=2)

    def test_centre_of_a_stencil(self):
        weights = [[0.5, 0.25, 0.125]]
        self.assert_same(heat(stencil={"weights": weights, "center": [0, 0]}), heat(stencil={"weights": np.array(weights), "center": [0, 0]}), "u", 7)

    def test_stencils_of_equations(self):
        for weights in ([[0.5, 0.25], [0.125, 0.0]], np.array([[0.5, 0.25], [0.125, 0.0]])):
            problem = waves(stencils={"w": {"weights": weights}}, equations={"step": "p.next = correlate(w, p) + c*dt"})
            self.run_problem(problem, f"{type(weights).__name__}")
        np.testing.assert_array_equal(values("list", 12, "p"), values("ndarray", 12, "p"))

    def test_point_sources(self):
        at = np.array([[3.0, 5.0], [7.5, 11.25]])
        self.assert_same(waves(point_sources=[{"at": at.tolist(), "value": "t*t"}]),
                         waves(point_sources=[{"at": at, "value": (0.25 * np.arange(12)) ** 2}]), "p", 12)

    def test_probes(self):
        at = np.array([[3.0, 5.0], [20.0, 30.0], [0.0, 1.0]])
        result = self.run_problem(waves(probes=[{"name": "r", "at": at}], output={"every": 1}))
        with h5py.File(result.directory / "probes.h5") as file:
            self.assertEqual(file["r/p"].shape, (13, 3))
            for step in range(13):
                np.testing.assert_array_equal(file["r/p"][step], values(result.directory, step, "p")[tuple(at.astype(int).T)])


class Runs(support.TestCase):
    def test_results_lie_beside_the_input(self):
        result = self.run_problem(heat())
        self.assertEqual(result.directory, pathlib.Path("out/heat"))
        self.assertTrue((self.directory / "out/heat/heat.toml").exists())
        self.assertEqual((result.finished, result.report["last_step"]), (True, 7))
        self.assertIn("finished 7 steps", result.log)
        self.assertEqual(self.run_problem(heat(output={"directory": "elsewhere"})).directory, pathlib.Path("elsewhere"))
        self.assertEqual(repr(result), "<spsolve.Result 'out/heat': 1 snapshots, last of step 7>")
        self.assertIn("heat", repr(heat()))

    def test_ranks_and_threads(self):
        one = self.run_problem(heat(), "one")
        two = self.run_problem(heat(), "two", ranks=2, threads=1)
        self.assertEqual((one.report["ranks"], two.report["ranks"], two.report["threads_per_rank"]), (1, 2, 1))
        self.assertEqual((one.directory / "snapshot_0000000007.hdf").read_bytes(), (two.directory / "snapshot_0000000007.hdf").read_bytes())

    def test_diagnostics(self):
        result = self.run_problem(heat(diagnostics={"every": 3}))
        with mock.patch.dict(sys.modules, {"pandas": None}):
            table = result.diagnostics
        self.assertEqual(list(table["step"]), [0, 3, 6, 7])
        self.assertEqual(table["max"][-1], values(result.directory, 7).max())
        try:
            import pandas  # noqa: F401
        except ImportError:
            return
        frame = result.diagnostics
        self.assertEqual(list(frame.index), [0, 3, 6, 7])
        self.assertEqual(list(frame.columns), list(table)[1:])
        np.testing.assert_array_equal(frame["min"], table["min"])

    def test_check(self):
        self.assertIn("the input is valid", heat().check(executable=EXECUTABLE))
        with self.assertRaisesRegex(spsolve.Error, r"\[time\]"):
            heat(time={"step": 7}).check(executable=EXECUTABLE)

    def test_overwrite(self):
        first = self.run_problem(heat(), "d")
        self.assertEqual(self.failure(heat(), "d").status, 2)
        self.run_problem(heat(initial=X, output={"every": 7}), "d", overwrite=True)
        np.testing.assert_array_equal(values(first.directory, 0), X)

    def test_a_restart_has_the_bits_of_a_run_that_never_stopped(self):
        whole = waves(coefficients={"c": np.where(X < 9, 1.0, 1.5)})
        half = spsolve.Problem(whole.sections, name="waves", time={"dt": 0.25, "steps": 6}, checkpoint={"final": True})
        self.run_problem(whole, "whole")
        self.run_problem(half, "parts")
        result = self.run_problem(whole, "parts", restart=True, ranks=2)
        self.assertEqual(result.report["first_step"], 6)
        np.testing.assert_array_equal(values("parts", 12, "p"), values("whole", 12, "p"))
        result = self.run_problem(whole, "third", restart="parts/checkpoint_0000000006.h5")
        self.assertEqual(result.report["first_step"], 6)
        np.testing.assert_array_equal(values("third", 12, "p"), values("whole", 12, "p"))


    def test_goes_on_with_an_input_that_was_read(self):
        """The arrays of the former input are in the file that a new input would have."""
        whole = waves(coefficients={"c": np.where(X < 9, 1.0, 1.5)}, checkpoint={"final": True})
        self.run_problem(whole, "d")
        again = spsolve.Problem.read("d/waves.toml")
        again.sections["time"]["steps"] = 20
        self.assertEqual(self.run_problem(again, "d", restart=True).report["first_step"], 12)
        self.run_problem(spsolve.Problem(whole.sections, name="waves", time={"dt": 0.25, "steps": 20}), "whole")
        np.testing.assert_array_equal(values("d", 20, "p"), values("whole", 20, "p"))
        again.sections["fields"]["p"]["initial"] = X
        with self.assertRaisesRegex(ValueError, "waves.arrays.h5 holds arrays of this problem already"):
            self.run_problem(again, "d", overwrite=True)
        self.assertEqual(spsolve.Problem.read("d/waves.toml").sections["fields"]["p"]["initial"], "x*y/64")
        self.run_problem(again, "e")


class Errors(support.TestCase):
    def test_message_is_that_of_the_program(self):
        problem = heat(time={"steps": 7, "stepps": 8})
        for ranks in (1, 2):
            error = self.failure(problem, ranks=ranks)
            alone = subprocess.run([EXECUTABLE, problem.write(self.directory / "out/heat")], capture_output=True, text=True)
            self.assertEqual((error.status, f"spsolve: error: {error}\n"), (2, alone.stderr))
            self.assertIn("stepps", str(error))

    def test_a_solution_that_is_not_finite(self):
        error = self.failure(heat(stencil={"weights": [[1.0e200]]}), ranks=2)
        self.assertEqual(error.status, 3)
        self.assertIn("NaN or infinite", str(error))
        self.assertNotIn("---", str(error))

    def test_arrays_of_the_wrong_shape(self):
        error = self.failure(heat(initial=X.T))
        self.assertEqual(error.status, 2)
        self.assertIn("heat.arrays.h5", str(error))

    def test_input_of_a_former_run_stays_if_another_is_refused(self):
        self.run_problem(heat(initial=X), "d")
        names = ("heat.toml", "heat.arrays.h5")
        before = [pathlib.Path("d", name).read_bytes() for name in names]
        for problem, options in ((heat(initial=Y), {}), (heat(initial=Y), {"restart": "latest"}), (heat(initial=X.astype(complex)), {})):
            with self.assertRaises((spsolve.Error, TypeError)):
                self.run_problem(problem, "d", **options)
            self.assertEqual([pathlib.Path("d", name).read_bytes() for name in names], before)
        self.assertEqual([file.name for file in pathlib.Path("d").iterdir() if file.name.startswith(".")], [])
        self.run_problem(heat(), "e")
        self.failure(heat(initial=Y), "e")
        self.assertFalse(pathlib.Path("e/heat.arrays.h5").exists())  # the former input has no arrays

    def test_programs_that_are_missing(self):
        with self.assertRaisesRegex(FileNotFoundError, "no program 'spsolve-of-nobody'.*executable="):
            self.run_problem(heat(), executable="spsolve-of-nobody")
        with self.assertRaisesRegex(FileNotFoundError, "no program 'mpirun-of-nobody'.*mpiexec="):
            self.run_problem(heat(), mpiexec="mpirun-of-nobody", ranks=2)
        with self.assertRaisesRegex(ValueError, "ranks is 0"):
            self.run_problem(heat(), ranks=0)
        self.assertFalse(pathlib.Path("out").exists())

    def test_a_daemon_that_keeps_the_streams_open(self):
        begin = time.monotonic()
        self.assertEqual(launch.run(["sh", "-c", "sleep 30 & echo done"], threads=None, progress=False), "done\n")
        self.assertLess(time.monotonic() - begin, 25)

    def test_survives_pickling(self):
        error = pickle.loads(pickle.dumps(spsolve.Error("message", 3, "log")))
        self.assertEqual((str(error), error.status, error.log), ("message", 3, "log"))

    def test_messages_without_a_message(self):
        self.assertEqual(launch.message_of("", -9), "the program was ended by signal 9")
        self.assertEqual(launch.message_of("", 1), "the program ended with status 1")
        self.assertEqual(launch.message_of("spsolve: warning: w\nspsolve: error on rank 3: a\nb\n" + "-" * 30 + "\nmpirun\n", 4), "a\nb")


class Interrupts(support.TestCase):
    def interrupted(self, ranks):
        """Runs in a Python of its own, which gets SIGINT when the first snapshots are there."""
        script = textwrap.dedent(f"""
            import sys
            sys.path[:0] = {sys.path!r}
            import test_run
            problem = test_run.heat(time={{"steps": 2000000000}}, output={{"every": 50000}})
            try:
                problem.run("d", ranks={ranks}, threads=1, executable={EXECUTABLE!r}, mpiexec={MPIEXEC!r})
            except KeyboardInterrupt:
                sys.exit(33)
        """)
        with subprocess.Popen([sys.executable, "-B", "-c", script], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            try:
                deadline = time.monotonic() + 100
                while not pathlib.Path("d/snapshot_0000050000.hdf").exists() and process.poll() is None and time.monotonic() < deadline:
                    time.sleep(0.05)
                process.send_signal(signal.SIGINT)
                _, errors = process.communicate(timeout=100)
            finally:
                if process.poll() is None:
                    process.kill()
        self.assertEqual(process.returncode, 33, errors)
        self.assertIn("stopping after a checkpoint", errors)
        self.assertEqual(len(list(pathlib.Path("d").glob("checkpoint_*.h5"))), 1)
        self.assertFalse(spsolve.Result("d").finished)

    def test_leaves_a_checkpoint(self):
        self.interrupted(1)

    def test_leaves_a_checkpoint_of_several_ranks(self):
        self.interrupted(2)

    def test_time_limit_is_no_error(self):
        result = self.run_problem(heat(time={"steps": 2000000000, "wall_limit_minutes": 0.05}))
        self.assertFalse(result.finished)
        self.assertEqual(len(list(result.directory.glob("checkpoint_*.h5"))), 1)


class Shown(support.TestCase):
    def shown(self, progress, stream):
        problem = heat(stencil={"weights": [[2.0]]}, time={"steps": 3})
        errors = io.StringIO()
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(errors):
            problem.run(overwrite=True, progress=progress, executable=EXECUTABLE)
        return stream.getvalue(), errors.getvalue()

    def test_lines_of_the_program(self):
        out, errors = self.shown(True, io.StringIO())
        self.assertIn("finished 3 steps", out)
        self.assertIn("spsolve: warning: ", errors)
        out, errors = self.shown(False, io.StringIO())
        self.assertEqual(out, "")
        self.assertIn("spsolve: warning: ", errors)  # the weights grow

    def test_progress_is_drawn_over_on_terminals(self):
        class Terminal(io.StringIO):
            def isatty(self):
                return True

        script = "echo start; echo 'step 100/200  1.5 GStencil/s'; echo 'step 150/200  1 GStencil/s'; echo end"
        for stream, wanted in ((Terminal(), "start\n\rstep 100/200  1.5 GStencil/s\rstep 150/200  1 GStencil/s  \nend\n"),
                               (io.StringIO(), "start\nstep 100/200  1.5 GStencil/s\nstep 150/200  1 GStencil/s\nend\n")):
            with contextlib.redirect_stdout(stream):
                log = launch.run(["sh", "-c", script], threads=None, progress=True)
            self.assertEqual(stream.getvalue(), wanted)
            self.assertEqual(log.count("\n"), 4)


if __name__ == "__main__":
    unittest.main()
