# SPDX-License-Identifier: Apache-2.0
"""Models [equations] in numpy. Python itself runs the text of a step: with other signs for `^`, `&&` and `c ? a : b` it is a Python
program, whose names stand for fields, coefficients, coordinates and functions. Every value carries a bound of what rounding
may do to it, as in rounding_model.py."""
import functools
import math
import operator
import re

import numpy as np

from numpy_model import ROUNDING
from rounding_model import OPERATIONS, SECOND_ORDER, UNIT, Terms

OF_FUNCTIONS = 8  # units in the last place by which a function may err
UNDERFLOW = 1000 * ROUNDING["fp32"].least  # of the operations of a step


def python(text):
    """Returns a step or a formula as Python. Comparisons that `&&` and `||` join stand in brackets, and the three parts of a choice
    have none."""
    text = re.sub(r"\(([^()?]*) \? ([^()?]*) : ([^()?]*)\)", r"choose(\1, \2, \3)", text)
    return text.replace("^", "**").replace("&&", "&").replace("||", "|")


class Value:
    """Holds values at the points of the grid, as numpy computes them in double, with the terms of a sum that a run in another
    order may add up. `terms.given` bounds the error of what went in."""

    __array_ufunc__ = None  # so that numbers of numpy leave operations to this class

    def __init__(self, exact, terms, unit):
        self.exact, self.terms, self.unit = exact, terms, unit

    @property
    def error(self):
        return self.terms.given + self.unit * self.terms.roundings()

    def __pow__(self, n):
        return math.prod([self] * n)

    def __truediv__(self, other):
        return self * (reciprocal(other) if isinstance(other, Value) else 1 / other)

    def __rtruediv__(self, other):
        return other * reciprocal(self)

    def __neg__(self):
        return -1 * self


def as_value(value, unit):
    return value if isinstance(value, Value) else Value(value, Terms.of(value), unit)


def of_values(function, combine):
    """Returns a function of numbers and Values; combine(exact, arguments, unit) makes the result if there are Values."""
    def apply(*arguments):
        unit = next((argument.unit for argument in arguments if isinstance(argument, Value)), None)
        if unit is None:
            return function(*arguments)
        arguments = [as_value(argument, unit) for argument in arguments]
        return combine(function(*(argument.exact for argument in arguments)), arguments, unit)
    return apply


def rounded(function, slope=lambda v, error: 1.0):
    """Returns a function whose result is rounded. slope(v, error) bounds its derivatives at arguments no further from v than
    error."""
    def combine(exact, arguments, unit):
        error = sum(argument.error * slope(argument.exact, argument.error) for argument in arguments)
        return Value(exact, Terms(np.abs(exact) + error, 0, OF_FUNCTIONS, error), unit)
    return of_values(function, combine)


def arithmetic(operation):
    return of_values(operation, lambda exact, arguments, unit: Value(exact, operation(*(a.terms for a in arguments)), unit))


def comparison(operation):
    """Returns 0 or 1, without an error: no two sides are as near to each other as rounding is."""
    return of_values(lambda a, b: 1.0 * operation(a, b), lambda exact, arguments, unit: Value(exact, Terms(exact), unit))


OPERATORS = {"add": arithmetic(operator.add), "sub": arithmetic(operator.sub), "mul": arithmetic(operator.mul),
             "lt": comparison(operator.lt), "gt": comparison(operator.gt), "and": arithmetic(operator.mul), "or": rounded(np.maximum)}
for name, function in OPERATORS.items():
    setattr(Value, f"__{name}__", function)
    setattr(Value, f"__r{name}__", lambda a, b, function=function: function(b, a))
reciprocal = rounded(lambda v: 1 / v, lambda v, error: (np.abs(v) - error) ** -2.0)
FUNCTIONS = {"sin": rounded(np.sin), "cos": rounded(np.cos), "tanh": rounded(np.tanh), "atan": rounded(np.arctan),
             "exp": rounded(np.exp, lambda v, error: np.exp(v + error)),
             "sqrt": rounded(np.sqrt, lambda v, error: 0.5 / np.sqrt(v - error)),
             "abs": rounded(np.abs), "min": rounded(np.minimum), "max": rounded(np.maximum),
             # The two values of a choice that rounding may make differently are the same where it may.
             "choose": rounded(lambda c, a, b: np.where(np.asarray(c) != 0, a, b))}


class Expression:
    """Is known at every point of the grid and of its surroundings: at(offset) returns the Value at displaced points, or a
    number."""

    __array_ufunc__ = None

    def __init__(self, at):
        self.at = functools.cache(at)

    def __getitem__(self, offset):
        by = offset if isinstance(offset, tuple) else (offset,)
        return Expression(lambda at: self.at(tuple(map(operator.add, at, by))))

    def __neg__(self):
        return -1 * self


def of_expressions(function):
    """Returns a function of Expressions, too: that of their values at each point."""
    def apply(*arguments):
        if not any(isinstance(argument, Expression) for argument in arguments):
            return function(*arguments)
        return Expression(lambda at: function(*(a.at(at) if isinstance(a, Expression) else a for a in arguments)))
    return apply


for name in [*OPERATORS, "truediv", "pow"]:
    function = of_expressions(OPERATORS.get(name) or getattr(operator, name))
    setattr(Expression, f"__{name}__", function)
    setattr(Expression, f"__r{name}__", lambda a, b, function=function: function(b, a))


def derivative(n, order, at):
    """Returns {offset: weight} of the narrowest differences: the n-th derivative at the point `at` of the polynomial through the
    values around it. At half points n is 0 or 1."""
    count = 2 * ((n + 1) // 2) - 1 + order if at == 0 else order
    offsets = np.arange(count) - (count - 1) / 2 + at
    weights = {}
    for offset in offsets:
        others = offsets[offsets != offset] - at
        weights[int(offset)] = math.factorial(n) * np.poly(others)[::-1][n] / np.prod(offset - at - others)
    return {offset: weight for offset, weight in weights.items() if weight != 0}


def correlate(w, e):
    """Returns the sum over neighbours with w = (weights, center)."""
    return sum(w[0][tuple(k)] * e[tuple(int(i) for i in k - w[1])] for k in np.argwhere(w[0]))


class Derivatives:
    """Holds the functions of the language that read neighbours along the axes of a grid. Coordinates stand for axes."""

    def __init__(self, grid):
        self.spacing = grid.spacing

    def along(self, e, axis, n, order, at):
        displaced = lambda offset: tuple(offset if other == axis else 0 for other in range(len(self.spacing)))
        scale = self.spacing[axis] ** -float(n)
        return sum(weight * scale * e[displaced(offset)] for offset, weight in derivative(n, order, at).items())

    def d(self, e, coordinate, n=1, order=2, at=0.0):
        return self.along(e, coordinate.axis, n, order, at)

    def mean(self, e, coordinate, order=2, at=0.0):
        return self.along(e, coordinate.axis, 0, order, at)

    def laplace(self, e, order=2):
        return sum(self.along(e, axis, 2, order, 0.0) for axis in range(len(self.spacing)))


class Level(Expression):
    """Is a field at one step, within an error, with the ghost points that its walls make at that time."""

    def __init__(self, grid, walls, exact, error, step, unit):
        super().__init__(self.displaced)
        self.grid, self.walls, self.exact, self.error, self.step, self.unit = grid, walls, exact, error, step, unit
        self.padded = functools.cache(self.padded)

    def padded(self, reach):
        """Returns the values, with bounds of their magnitudes and of their errors."""
        pad = lambda values, bound=None: self.grid.pad(values, self.walls, reach, self.step, bound)
        return pad(self.exact), pad(np.abs(self.exact) + self.error, 1.0), pad(self.error, OPERATIONS * UNIT["fp64"])

    def displaced(self, offset):
        reach = max(map(abs, offset))
        window = tuple(slice(reach + k, reach + k + n) for k, n in zip(offset, self.grid.shape))
        exact, size, error = (values[window] for values in self.padded(reach))
        return Value(exact, Terms(size, 2, 4, error), self.unit)  # ghost points take two additions and four factors


class Field(Expression):
    """Is what the name of a field means in a step."""

    def __init__(self, now, previous):
        super().__init__(now.at)
        self.now, self.previous, self.level = now, previous, None

    @property
    def next(self):
        return self.level

    @next.setter
    def next(self, expression):
        now = self.now
        value = as_value(expression.at((0,) * now.exact.ndim) if isinstance(expression, Expression) else expression, now.unit)
        filled = lambda values: np.broadcast_to(values, now.exact.shape).astype(float)
        self.level = Level(now.grid, now.walls, filled(value.exact), filled(SECOND_ORDER * value.error + UNDERFLOW), now.step + 1, now.unit)


class System:
    """Holds the fields now and one step before, as Levels by name. `names` are the numbers, stencils (weights, center) and
    coefficients (arrays) of the equations."""

    def __init__(self, grid, walls, names, initial, previous, precision):
        unit = UNIT[precision] + UNIT["fp64"]
        level = lambda name, u, step: Level(grid, walls[name], u, unit * np.abs(u) + OPERATIONS * UNIT["fp64"] * np.abs(u).max(), step, unit)
        self.now = {name: level(name, u, 0) for name, u in initial.items()}
        self.before = {name: level(name, u, -1) for name, u in previous.items()}
        self.grid, self.step = grid, 0
        derivatives = Derivatives(grid)
        self.names = {**{name: of_expressions(function) for name, function in FUNCTIONS.items()}, "correlate": correlate,
                      "d": derivatives.d, "mean": derivatives.mean, "laplace": derivatives.laplace, "dt": grid.dt, **names}
        given = lambda values_at: Expression(lambda offset: Value(values := values_at(offset), Terms.of(values), unit))
        for axis, name in enumerate(grid.axes):
            self.names[name] = given(lambda offset, name=name: grid.points(offset)[name])
            self.names[name].axis = axis
        for name, values in names.items():
            if isinstance(values, np.ndarray):
                self.names[name] = given(lambda offset, values=values: grid.repeated(values, offset))

    def names_now(self):
        return {**self.names, "t": self.step * self.grid.dt, "step": self.step}

    def value(self, formula):
        """Returns the Value of a formula of the fields as they are now."""
        return eval(python(formula), {**self.names_now(), **self.now}).at((0,) * len(self.grid.shape))

    def advance(self, text, sources=()):
        """Takes a step. Each source (field, points, weights, formula of time) adds to a field, after all statements."""
        fields = {name: Field(now, self.before[name]) for name, now in self.now.items()}
        exec(python(text), {**self.names_now(), **fields})
        self.before, self.now = self.now, {name: field.level for name, field in fields.items()}
        for name, points, weights, formula in sources:
            level, value = self.now[name], eval(python(formula), self.names_now())
            exact, error = level.exact.copy(), level.error.copy()
            error += 8 * UNIT["fp64"] * max(4, *exact.shape) * abs(value)  # the place lies where the roundings of coordinates put it
            for point, weight in zip(points, weights):
                exact[point] += weight * value
                error[point] += 4 * level.unit * (abs(value) + abs(exact[point]))
            self.now[name] = Level(self.grid, level.walls, exact, error, level.step, level.unit)
        self.step += 1
