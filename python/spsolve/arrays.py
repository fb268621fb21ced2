# SPDX-License-Identifier: Apache-2.0
"""Moves the arrays of an input to an HDF5 file. The input then names their datasets."""
from __future__ import annotations

import pathlib
from collections.abc import Callable, Mapping
from typing import Any

import h5py
import numpy as np

Path = tuple[str | int, ...]


def extract(sections: Mapping[str, Any], file_name: str) -> tuple[dict[str, Any], dict[str, tuple[np.ndarray[Any, Any], dict[str, Any]]]]:
    """Returns the sections with { file, dataset } in place of arrays, and the arrays by dataset with their attributes.
    The sections stay as they are."""
    arrays: dict[str, tuple[np.ndarray[Any, Any], dict[str, Any]]] = {}
    axes = np.size(sections.get("grid", {}).get("shape", ()))

    def store(path: Path, item: Any, attributes: Mapping[str, Any] | None = None) -> dict[str, str]:
        dataset = "/" + "/".join(map(str, path))
        arrays[dataset] = (_numbers(path, item, axes), dict(attributes or {}))
        return {"file": file_name, "dataset": dataset}

    return _replaced(sections, (), store), arrays


def write(file: pathlib.Path, arrays: Mapping[str, tuple[np.ndarray[Any, Any], dict[str, Any]]]) -> None:
    with h5py.File(file, "w") as output:
        for dataset, (values, attributes) in arrays.items():
            output[dataset] = values
            output[dataset].attrs.update(attributes)


def _replaced(table: Mapping[str, Any], path: Path, store: Callable[..., dict[str, str]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, item in table.items():
        here = (*path, key)
        if isinstance(item, Mapping) and is_array(item.get("weights")) and _holds_weights(here):
            attributes = {"center": np.asarray(item["center"], np.int64)} if item.get("center") is not None else {}
            others = {other: of_key for other, of_key in item.items() if other not in ("weights", "center")}
            result[key] = {**store(here, item["weights"], attributes), **others}
        elif isinstance(item, Mapping) and {"file", "dataset"} <= item.keys():
            # A relative path means what it means in Python, wherever the input will be written.
            result[key] = {**item, "file": str(pathlib.Path(item["file"]).absolute())}
        elif isinstance(item, Mapping):
            result[key] = _replaced(item, here, store)
        elif path == () and isinstance(item, (list, tuple)):
            result[key] = [_replaced(entry, (*here, i), store) if isinstance(entry, Mapping) else entry for i, entry in enumerate(item)]
        elif is_array(item) and _takes_dataset(here):
            result[key] = store(here, item)
        else:
            result[key] = _unmasked(here, item) if is_array(item) else item
    return result


def is_array(item: Any) -> bool:
    """Returns True for arrays of numpy, xarray and others, but not for single numbers."""
    return hasattr(item, "__array__") and np.ndim(item) > 0


def _holds_weights(path: Path) -> bool:
    return path == ("stencil",) or (len(path) == 2 and path[0] == "stencils")


def _takes_dataset(path: Path) -> bool:
    match path:
        case ("initial" | "source",) | ("coefficients", _):
            return True
        case ("fields", _, "initial" | "previous"):
            return True
        case ("boundary", *_, "dirichlet" | "value" | "flux"):
            return True
        case ("point_sources", _, "at" | "value") | ("probes", _, "at"):
            return True
    return _holds_weights(path)


def _unmasked(path: Path, item: Any) -> np.ndarray[Any, Any]:
    """Returns the array. What a mask hides is no value, often a number such as 1e37, so it is refused."""
    if np.ma.is_masked(item):
        raise ValueError(f"{'.'.join(map(str, path))} has masked values; wanted a number everywhere, as numpy.ma.filled() returns them")
    return np.asarray(item)


def _numbers(path: Path, item: Any, axes: int) -> np.ndarray[Any, Any]:
    """Returns the array as it is stored. Places get the shape [points, axes]: a row of one point, or, in 1D, a point per number."""
    values = _unmasked(path, item)
    if values.dtype.kind not in "biuf":
        raise TypeError(f"{'.'.join(map(str, path))} is an array of {values.dtype}; wanted real numbers")
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        values = values.astype(np.float64)
    if path[-1] == "at" and values.ndim == 1 and (axes == 1 or len(values) == axes):
        values = values.reshape(-1, axes)
    return values
