# SPDX-License-Identifier: Apache-2.0
"""Computes u'[p] = sum_k w[k] u[p + k - center] + s[p] in numpy, from the definition alone, and a bound of what rounding may do
to a run of a given precision."""
import dataclasses

import numpy as np


def ghosts(u, axis, index, face):
    """Returns u at indices beyond its ends along an axis; face is "periodic", "neumann" or a number."""
    n = u.shape[axis]
    if face == "periodic":
        return np.take(u, index % n, axis)
    if face == "neumann":
        return np.take(u, np.minimum(index % (2 * n), 2 * n - 1 - index % (2 * n)), axis)
    return np.full([*u.shape[:axis], len(index), *u.shape[axis + 1:]], float(face))


def padded(u, below, above, faces):
    """Returns u with ghost points, axis by axis in the order x, y, z; faces[axis] = (low, high). (The modes wrap, symmetric and
    constant of numpy.pad, whose wrap is wrong beyond one period before numpy 1.25.)"""
    for axis in reversed(range(u.ndim)):
        n, (low, high) = u.shape[axis], faces[axis]
        u = np.concatenate([ghosts(u, axis, np.arange(-below[axis], 0), low), u,
                            ghosts(u, axis, np.arange(n, n + above[axis]), high)], axis)
    return u


def step(u, weights, center, faces, source):
    window = padded(u, center, np.subtract(weights.shape, center) - 1, faces)
    result = np.array(source, dtype=float)
    for k in np.argwhere(weights):
        result += weights[tuple(k)] * window[tuple(slice(i, i + n) for i, n in zip(k, u.shape))]
    return result


def statistics(u, before, error, before_error):
    """Returns {column of the diagnostics: (value, tolerance)} of values within an error, and those one step before."""
    root, norm = np.sqrt(u.size), lambda v: np.sqrt((v * v).sum())
    return {"min": (u.min(), error), "max": (u.max(), error), "mean": (u.mean(), 2 * error), "l2": (norm(u), 2 * root * error),
            "change_l2": (norm(u - before), 2 * root * (error + before_error))}


@dataclasses.dataclass
class Rounding:
    """Holds the relative errors of one operation (in a stored value, in a sum, and in an operand) and the least stored
    error."""
    stored: float
    sum: float
    operand: float
    least: float


ROUNDING = {"fp64": Rounding(2**-53, 2**-53, 0, 2**-1074),
            "fp32": Rounding(2**-24, 2**-24, 2**-24, 2**-149),
            "tf32": Rounding(2**-24, 2**-24, 2 * 2**-11, 2**-149),
            "bf16": Rounding(2**-8, 2**-24, 2**-24, 2**-133),
            "fp16": Rounding(2**-11, 2**-24, 2**-24, 2**-25)}


class Bound:
    """Bounds |computed - exact| in the maximum norm, step by step: an error grows by no more than sum |w|, and every step adds
    the errors of a sum of terms and of a rounding to storage."""

    def __init__(self, precision, weights, source, walls, u, initial_error):
        self.rounding = ROUNDING[precision]
        self.terms = np.count_nonzero(weights) + 1
        self.gain = np.abs(weights).sum()
        self.source = np.abs(source).max()
        self.wall = max(map(abs, walls), default=0.0)
        self.size = max(np.abs(u).max(), self.wall)
        self.error = initial_error
        self.store(u)

    def store(self, u):
        size = max(np.abs(u).max(), self.wall)
        self.error += self.rounding.stored * (size + self.error) + self.rounding.least
        self.size = size

    def step(self, u):
        addends = self.gain * (self.size + self.error) + self.source
        self.error = self.gain * self.error + 1.01 * (self.rounding.operand + self.terms * self.rounding.sum) * addends
        self.store(u)
