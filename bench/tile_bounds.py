#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what tiles of several planes could reach at most on 2:4 tensor cores in fp16, whatever their kernel, beside what is on record.

tile_bounds.py CEILINGS ROWS...      CEILINGS: `spsolve bench --suite ceilings --json`. ROWS: files or records (bench/rows.py).

A launch of t fused steps takes at least as long as each of these, per 128 outputs:
- a copy of 128 points;
- the instructions, each of which holds 16 weights of an output: taps / 16;
- with shared memory: a wavefront moves 128 bytes, and two store the points as they arrive. A tile has K inputs, each in one column (SparStencil
  section 3.1). Tiles of 16 outputs on mma.sp load the inputs of eight tiles into registers: K / 8 wavefronts. Tiles of 64 outputs on wgmma.sp
  read the points, store them as an operand, and tensor cores read it: 3 K / 32.
Marches, which load points once for several slices of the weights, are not such tiles.
"""
import itertools
import json
import math
import pathlib
import sys

from rows import rows_of, table

CASES = {"star2d1r": 14, "star2d3r": 6, "star3d1r": 6, "box3d1r": 4}  # steps up to which bounds are looked for
POINTS, BYTES = 128, 2


def taps_of(name):
    """Returns the offsets {z, y, x} of a star or box, as "star3d1r"."""
    dimensions, radius = int(name[-4]), int(name[-2])
    reach = [range(-radius, radius + 1) if axis >= 3 - dimensions else range(1) for axis in range(3)]
    return {tap for tap in itertools.product(*reach) if name.startswith("box") or sum(map(bool, tap)) <= 1}


def sums_of(points, offsets):
    return {tuple(map(sum, zip(point, offset))) for point in points for offset in offsets}


def fewest_inputs(taps, outputs, is_plane):
    """Returns the fewest inputs of a tile with this number of outputs, and the tile."""
    tiles = [(z, y, outputs // z // y) for z in range(1, outputs + 1) if outputs % z == 0 and not (is_plane and z > 1)
             for y in range(1, outputs // z + 1) if outputs // z % y == 0]
    return min((len(sums_of(itertools.product(*map(range, tile)), taps)), tile) for tile in tiles)


def bounds_of(name, steps, ceilings):
    """Yields (t, [rates by instructions and memory on mma.sp and wgmma.sp, with shared memory on both], tiles of the last two)."""
    copy = POINTS * 2 * BYTES / ceilings["copy"]
    wavefront = 128 / ceilings["shared memory"]
    instruction = [POINTS * 64 / ceilings[name] for name in ("mma.sp fp16 m16n8k32", "wgmma.sp fp16 m64n256k32, A in registers")]
    once = taps_of(name)
    taps = {(0, 0, 0)}
    for t in range(1, steps + 1):
        taps = sums_of(taps, once)
        packed = [len(taps) / 16 * each for each in instruction]
        tiles = [fewest_inputs(taps, outputs, "2d" in name) for outputs in (16, 64)]
        shared = [(2 + tiles[0][0] / 8) * wavefront, (2 + 3 * tiles[1][0] / 32) * wavefront]
        seconds = [max(copy, each) for each in packed] + [max(copy, *pair) for pair in zip(packed, shared)]
        yield t, [POINTS * t / each * 1e-9 for each in seconds], tiles


def main(file, *sources):
    ceilings = {rate["name"]: rate["sustained"] for rate in json.loads(pathlib.Path(file).read_text())["rates"]}
    lines = []
    for name, steps in CASES.items():
        bounds = list(bounds_of(name, steps, ceilings))
        cells = []
        for i in range(4):
            t, rates, tiles = max(bounds, key=lambda bound: bound[1][i])
            if i >= 2:
                inputs, tile = tiles[i - 2]
                cells.append(f"{' x '.join(map(str, tile if '3d' in name else tile[1:]))}, {inputs}")
            cells.append(f"{rates[i]:,.0f} ({t})")
        best = max((row for row in rows_of(*sources) if (row["stencil"], row["precision"]) == (name, "fp16") and math.prod(row["shape"]) > 1e8),
                   key=lambda row: row["gstencil_per_s"])
        lines.append((name, *cells, f"{best['gstencil_per_s']:,.0f} ({best['fuse']})"))
    table(["case, fp16", "mma.sp, instructions:", "wgmma.sp, instructions:", "tile of 16, inputs", "mma.sp, shared memory:", "tile of 64, inputs",
           "wgmma.sp, shared memory:", "on record:"], lines)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
