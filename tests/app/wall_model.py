# SPDX-License-Identifier: Apache-2.0
"""Models walls of every condition in numpy, from their definition in docs/guide/input.md alone, and draws random ones."""
import h5py
import numpy as np


def reflect(i, n):
    i %= 2 * n
    return i if i < n else 2 * n - 1 - i


class Wall:
    """Describes a face: `key` as the input has it, and `value(coordinates, step)` on the points of the face."""

    def __init__(self, condition, value, key, h=0.0):
        self.condition, self.value, self.key, self.h = condition, value, key, h

    def shares(self, layer, spacing):
        """Returns what a ghost point takes of its mirror image and of the value."""
        distance = (2 * layer + 1) * spacing
        a = self.h * distance / 2
        return {"dirichlet": (0.0, 1.0), "neumann": (1.0, 0.0), "value": (-1.0, 2.0), "flux": (1.0, distance),
                "robin": ((1 - a) / (1 + a), 2 * a / (1 + a))}[self.condition]


class Grid:
    """Describes a grid and which of its axes are periodic. Walls of a field are given as walls[axis] = (low, high), of which
    those of periodic axes do not count."""

    def __init__(self, shape, spacing, origin, periodic, dt):
        self.shape, self.spacing, self.origin, self.periodic, self.dt = shape, spacing, origin, periodic, dt
        self.axes = "zyx"[-len(shape):]

    def points(self, offset=0):
        """Returns the coordinates of all points by name, displaced by whole spacings."""
        along = [o + h * (np.arange(n) + k) for o, h, n, k in
                 zip(self.origin, self.spacing, self.shape, np.broadcast_to(offset, len(self.shape)))]
        return dict(zip(self.axes, np.meshgrid(*along, indexing="ij")))

    def folded(self, index, axis):
        """Returns the points whose values datasets and coefficients have at indices beyond the ends of an axis."""
        n = self.shape[axis]
        return [i % n if self.periodic[axis] else reflect(i, n) for i in index]

    def repeated(self, values, offset):
        """Returns values at all points, displaced: they repeat along periodic axes, and are mirrored elsewhere."""
        return values[np.ix_(*(self.folded(np.arange(n) + k, axis) for axis, (n, k) in enumerate(zip(self.shape, offset))))]

    def random_wall(self, axis, random, numbers, path, plain=False):
        """Draws a face at an end of an axis. `random` is Python's generator, `numbers` is numpy's, and `path` is the HDF5 file to
        which values of datasets are added. Plain walls are "neumann" or have a number as their dirichlet value."""
        condition = random.choice(["dirichlet", "neumann"] if plain else ["dirichlet", "neumann", "value", "flux", "robin"])
        h = random.choice([0.0, 0.7, 2.0])
        if condition == "neumann":
            return Wall(condition, lambda coordinates, step: 0.0, condition)
        form = "number" if plain else random.choice(["number", "formula", "dataset"])
        if form == "number":
            text = random.uniform(-1, 1)
            value = lambda coordinates, step: text
        elif form == "formula":
            terms = ["0.3*sin(t)", "0.1*step", *(f"0.2*{name}" for name in self.axes if name != self.axes[axis])]
            text = " + ".join([term for term in terms if random.random() < 0.7] or ["0.1"])
            value = lambda coordinates, step: eval(text, {"sin": np.sin, "t": step * self.dt, "step": step, **coordinates})
        else:
            face = numbers.uniform(-1, 1, [n for other, n in enumerate(self.shape) if other != axis] or [1])
            value = lambda coordinates, step: self.on_face(face, axis, coordinates)
            with h5py.File(path, "a") as file:
                text = {"file": path.name, "dataset": f"face{len(file)}"}
                file[text["dataset"]] = face
        return Wall(condition, value, {condition: {"h": h, "value": text} if condition == "robin" else text}, h)

    def on_face(self, face, axis, coordinates):
        """Returns a dataset at points of a face: it repeats along periodic axes, and is mirrored elsewhere."""
        places = []
        for other, name in enumerate(self.axes):
            if other != axis:
                index = np.rint((coordinates[name].ravel() - self.origin[other]) / self.spacing[other]).astype(int)
                places.append(self.folded(index, other))
        return np.expand_dims(face[np.ix_(*places)], axis) if places else face

    def pad(self, u, walls, reach, step, bound=None):
        """Returns u with ghost points, filled axis by axis in the order x, y, z. With a number as `bound`, u bounds absolute
        values, and so does the result: values of walls count that number of times."""
        share = (lambda factor: factor) if bound is None else abs
        done = set()
        for axis in reversed(range(u.ndim)):
            n = self.shape[axis]
            if self.periodic[axis]:
                u = np.take(u, np.arange(-reach, n + reach) % n, axis)
            else:
                coordinates = {}
                for other in set(range(u.ndim)) - {axis}:
                    index = np.arange(-reach, self.shape[other] + reach) if other in done else np.arange(self.shape[other])
                    if self.periodic[other]:
                        index %= self.shape[other]
                    extents = [1] * u.ndim
                    extents[other] = len(index)
                    coordinates[self.axes[other]] = (self.origin[other] + self.spacing[other] * index).reshape(extents)
                ghosts = []
                for side, wall in enumerate(walls[axis]):
                    value, layers = wall.value(coordinates, step), []
                    if bound is not None:
                        value = bound * np.abs(value)
                    for layer in range(reach):
                        of_mirror, of_value = map(share, wall.shares(layer, self.spacing[axis]))
                        mirrored = np.take(u, [reflect(n + layer if side else -1 - layer, n)], axis)
                        layers.append(of_mirror * mirrored + of_value * value)
                    ghosts.append(layers if side else layers[::-1])
                u = np.concatenate([*ghosts[0], u, *ghosts[1]], axis)
            done.add(axis)
        return u
