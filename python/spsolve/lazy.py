# SPDX-License-Identifier: Apache-2.0
"""Makes arrays for xarray whose values stay in files until they are used. It is imported only where xarray is installed."""
from __future__ import annotations

import pathlib
from typing import Any

import h5py
import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing


class Stored(BackendArray):
    """Holds the first values of a dataset along each axis. The file is open only while it is read, so that it may be replaced."""

    def __init__(self, file: pathlib.Path, dataset: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.file, self.dataset, self.shape, self.dtype = file.absolute(), dataset, tuple(shape), np.dtype(dtype)

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self.values)

    def values(self, key: tuple[Any, ...]) -> np.ndarray[Any, Any]:
        """Returns the values at an index, a slice or an array of indices along each axis. HDF5 reads the box around them."""
        boxes: list[slice | int] = []
        within: list[Any] = []
        for wanted, points in zip(key, self.shape, strict=True):
            if isinstance(wanted, slice):
                boxes.append(slice(*wanted.indices(points)))
                within.append(slice(None))
            elif np.ndim(wanted) == 0:
                boxes.append(int(wanted))
            elif len(wanted) == 0:
                boxes.append(slice(0, 0))
                within.append(slice(None))
            else:
                least = int(np.min(wanted))
                boxes.append(slice(least, int(np.max(wanted)) + 1))
                within.append(np.asarray(wanted) - least)
        with h5py.File(self.file) as opened:
            values = np.asarray(opened[self.dataset][tuple(boxes)])
        for axis, indices in enumerate(within):
            if not isinstance(indices, slice):
                values = values.take(indices, axis)
        return values


class Stacked(BackendArray):
    """Joins arrays of one shape along a new first axis."""

    def __init__(self, parts: list[Stored]) -> None:
        self.parts, self.shape, self.dtype = parts, (len(parts), *parts[0].shape), parts[0].dtype

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self.values)

    def values(self, key: tuple[Any, ...]) -> np.ndarray[Any, Any]:
        first, rest = key[0], key[1:]
        if not isinstance(first, slice) and np.ndim(first) == 0:
            return self.parts[int(first)].values(rest)
        chosen = np.arange(len(self.parts))[first]
        if len(chosen) == 0:
            return self.parts[0].values(rest)[np.newaxis][:0]
        return np.stack([self.parts[i].values(rest) for i in chosen])


def lazily(array: Stored | Stacked) -> Any:
    return indexing.LazilyIndexedArray(array)  # type: ignore[no-untyped-call]
