# SPDX-License-Identifier: Apache-2.0
"""Runs the package against the real program. CMake says where that is: the environment variables SPSOLVE and MPIEXEC."""
import contextlib
import importlib.util
import io
import os
import pathlib
import shutil
import tempfile
import unittest

import h5py

import spsolve

EXECUTABLE = os.environ.get("SPSOLVE", "spsolve")
MPIEXEC = os.environ.get("MPIEXEC", "mpirun")
SOURCE = pathlib.Path(__file__).parents[2]
needs_xarray = unittest.skipIf(importlib.util.find_spec("xarray") is None, "there is no xarray (python3-xarray)")


class TestCase(unittest.TestCase):
    """Every test has an empty directory of its own, which is the current one."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="spsolve_python_")).resolve()
        before = os.getcwd()
        os.chdir(self.directory)
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.addCleanup(os.chdir, before)

    def run_problem(self, problem, *arguments, **options):
        """Runs without showing what the program prints."""
        with contextlib.redirect_stderr(io.StringIO()):
            return problem.run(*arguments, **{"executable": EXECUTABLE, "mpiexec": MPIEXEC, "threads": 1, "progress": False, **options})

    def failure(self, problem, *arguments, **options):
        with self.assertRaises(spsolve.Error) as caught:
            self.run_problem(problem, *arguments, **options)
        return caught.exception


def values(directory, step, field="u", stream="snapshot"):
    """Returns a field of a snapshot as h5py reads it."""
    with h5py.File(pathlib.Path(directory) / f"{stream}_{step:010}.hdf") as file:
        return file[field][()]
