# SPDX-License-Identifier: Apache-2.0
"""Writes inputs of spsolve from numpy arrays, runs the program, and opens its results with xarray."""
from .launch import Error
from .problem import Problem
from .read import open
from .result import Result

__all__ = ["Error", "Problem", "Result", "open"]
__version__ = "0.1.0"
