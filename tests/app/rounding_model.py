# SPDX-License-Identifier: Apache-2.0
"""Bounds how far a computed step may be from the exact one, for steps that are written by hand in numpy.

A step is a function of a list of arrays that uses + - * / and displaced() only. Run on arrays it gives values; run on
Terms it gives what rounding can do to these values, in whatever order the operations are done and however products are
expanded. What an error of one step becomes in later steps follows from the Jacobian of the step."""
import numpy as np

import numpy_model

UNIT = {"fp64": 2.0**-53, "fp32": 2.0**-24}
OPERATIONS = 24    # no coefficient or initial value of the examples takes more operations and functions
SECOND_ORDER = 1.01  # (1 + u)^k - 1 < 1.01 k u, and squares of errors are below one percent of errors


class Terms:
    """Represents a value as a sum of products. `size` bounds the sum of the absolute values, `additions` counts those of the
    whole sum, `factors` those of the longest product, and `given` bounds the error of coefficients, which are computed in
    double."""
    __array_ufunc__ = None  # so that array * terms comes here

    def __init__(self, size, additions=0, factors=0, given=0.0):
        self.size, self.additions, self.factors, self.given = size, additions, factors, given

    @staticmethod
    def of(value):
        if isinstance(value, Terms):
            return value
        if isinstance(value, np.ndarray):  # rounded when it is stored
            return Terms(np.abs(value), 0, 1, OPERATIONS * UNIT["fp64"] * np.abs(value).max())
        return Terms(abs(value), 0, 3)     # a number is made of three at most, and rounded to the precision

    def __add__(self, other):
        other = Terms.of(other)
        return Terms(self.size + other.size, self.additions + other.additions + 1, max(self.factors, other.factors),
                     self.given + other.given)

    def __mul__(self, other):
        other = Terms.of(other)
        return Terms(self.size * other.size, self.additions + other.additions, self.factors + other.factors + 1,
                     self.size * other.given + self.given * other.size)

    def __truediv__(self, other):
        return self * (1 / other)

    def __neg__(self):
        return self

    __radd__ = __sub__ = __rsub__ = __add__
    __rmul__ = __mul__

    def roundings(self):
        """Returns the error that rounding adds, in units of the unit roundoff."""
        return (self.additions + self.factors) * self.size


def displaced(f, axis, offset, faces):
    """Returns f at the point `offset` further along an axis; faces = (low, high) as in numpy_model, or one for both."""
    low, high = faces if isinstance(faces, tuple) else (faces, faces)
    if isinstance(f, Terms):
        size_beyond = tuple(face if isinstance(face, str) else abs(face) for face in (low, high))
        given_beyond = tuple(face if isinstance(face, str) else 0.0 for face in (low, high))
        given = np.broadcast_to(f.given, np.shape(f.size))
        return Terms(displaced(f.size, axis, offset, size_beyond), f.additions, f.factors,
                     displaced(given, axis, offset, given_beyond))
    n = f.shape[axis]
    index = np.arange(n) + offset
    parts = [numpy_model.ghosts(f, axis, index[index < 0], low), np.take(f, index[(index >= 0) & (index < n)], axis),
             numpy_model.ghosts(f, axis, index[index >= n], high)]
    return np.concatenate(parts, axis)


def flat(state):
    return np.concatenate([np.ravel(f) for f in state])


def jacobian(step, state, is_linear):
    """Returns d step / d state, which for a linear step is that of any state. For polynomials of degree three it is exact up to
    the square of 1e-4."""
    shapes = [f.shape for f in state]
    ends = np.cumsum([f.size for f in state])

    def of(vector):
        return flat(step([part.reshape(shape) for part, shape in zip(np.split(vector, ends[:-1]), shapes)]))

    start = np.zeros(ends[-1]) if is_linear else flat(state)
    columns = []
    for j in range(ends[-1]):
        change = np.zeros(ends[-1])
        change[j] = 1.0 if is_linear else 1e-4
        columns.append(of(start + change) - of(start) if is_linear else (of(start + change) - of(start - change)) / 2e-4)
    return np.array(columns).T


class Bound:
    """Bounds |computed - states[n]| for every n, pointwise. `states` is the trajectory of the model, or an exact solution; its
    defect, the error with which it satisfies the step, is added to the error of each step."""

    def __init__(self, step, states, is_linear):
        self.step, self.states = step, states
        self.matrices = [jacobian(lambda s, n=n: step(s, n), states[n], is_linear) if n == 0 or not is_linear else None
                         for n in range(len(states) - 1)]
        if is_linear:
            self.matrices = self.matrices[:1] * (len(states) - 1)
        self.per_unit = [flat([np.abs(f) for f in states[0]])]  # initial values are rounded when they are stored
        self.fixed = [flat([np.full(f.shape, OPERATIONS * UNIT["fp64"] * np.abs(f).max()) for f in states[0]])]
        self.defect = 0.0  # relative to the largest value of each field
        largest = [max(np.abs(state[i]).max() for state in states) for i in range(len(states[0]))]
        for n, state in enumerate(states[:-1]):
            # Computed values exceed those of the model by their errors, which are less than one percent, or
            # the test fails.
            terms = step([Terms(np.abs(f) + 0.01 * size) for f, size in zip(state, largest)], n)
            self.per_unit.append(flat([t.roundings() for t in terms]))
            defect = [np.abs(a - b) for a, b in zip(step(state, n), states[n + 1])]
            self.fixed.append(flat([t.given + d for t, d in zip(terms, defect)]))
            self.defect = max(self.defect, max(d.max() / (size or 1.0) for d, size in zip(defect, largest)))
        self.is_linear = is_linear
        self.powers = [np.eye(len(self.fixed[0]))]  # powers of the Jacobian of a linear step
        self.absolute_powers = [self.powers[0]]

    def propagators(self, n):
        """Returns |J(n - 1) ... J(m)| for m = n, n - 1, ..., 0."""
        if self.is_linear:
            while len(self.powers) <= n:
                self.powers.append(self.matrices[0] @ self.powers[-1])
                self.absolute_powers.append(np.abs(self.powers[-1]))
            return self.absolute_powers[:n + 1]
        products = [np.eye(len(self.fixed[0]))]
        for matrix in reversed(self.matrices[:n]):
            products.append(products[-1] @ matrix)
        return [np.abs(product) for product in products]

    def at(self, n, precision):
        """Returns, per field, the error bound of the program in a precision after n steps, and the model in double."""
        unit = UNIT[precision] + UNIT["fp64"]
        errors = [unit * per_unit + 2 * fixed for per_unit, fixed in zip(self.per_unit, self.fixed)]
        bound = SECOND_ORDER * sum(p @ error for p, error in zip(self.propagators(n), reversed(errors[:n + 1])))
        shapes = [f.shape for f in self.states[0]]
        return [part.reshape(shape) for part, shape in zip(np.split(bound, np.cumsum([np.prod(s) for s in shapes])[:-1]), shapes)]
