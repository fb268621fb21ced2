#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of guide/equations.md: some snapshots of three inputs side by side.

plot_equations.py out docs/guide/pictures     (needs numpy and h5py)

The first argument holds the directories of the runs.
"""
import pathlib
import struct
import sys
import zlib

import h5py
import numpy as np

DIVERGING = [(33, 60, 122), (103, 147, 199), (245, 245, 245), (222, 132, 97), (128, 24, 38)]
HEAT = [(22, 22, 60), (88, 44, 120), (186, 60, 96), (242, 132, 62), (252, 232, 150)]


def coloured(values, low, high, colours):
    """Returns RGB bytes of values, linear between colours."""
    place = np.clip((values - low) / (high - low), 0, 1)
    stops = np.linspace(0, 1, len(colours))
    return np.stack([np.interp(place, stops, channel) for channel in zip(*colours)], -1).astype(np.uint8)


def write_png(path, image):
    """Writes an array [rows, columns, 3] of bytes as PNG (ISO/IEC 15948): every row without a filter."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows, columns, _ = image.shape
    data = b"".join(b"\0" + row.tobytes() for row in image)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0))
                     + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b""))


def plot(results, picture, field, steps, low, high, colours, zoom=1, is_depth=False):
    tiles = []
    for step in steps:
        with h5py.File(results / f"snapshot_{step:010}.hdf") as file:
            values = file[field][()]
        if not is_depth:
            values = values[::-1]  # y upward
        tile = coloured(np.kron(values, np.ones((zoom, zoom))), low, high, colours)
        tiles += [tile, np.full((tile.shape[0], 8, 3), 255, np.uint8)]
    write_png(picture, np.concatenate(tiles[:-1], 1))


out, pictures = map(pathlib.Path, sys.argv[1:])
plot(out / "heat_two_materials", pictures / "heat_two_materials.png", "T", [400, 2000, 8000], -10, 20, HEAT, zoom=3)
plot(out / "acoustic2d_from_hdf5", pictures / "acoustic2d_from_hdf5.png", "p", [400, 700, 1000], -15, 15, DIVERGING, is_depth=True)
plot(out / "gray_scott", pictures / "gray_scott.png", "v", [500, 1500, 2500, 5000], 0, 0.4, HEAT, zoom=2)
