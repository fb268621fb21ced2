#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws SparStencil's search for a tile (its figure 9), by `spsolve plan --layouts --json`.

plot_tiles.py SPSOLVE PICTURE STENCIL...     (needs matplotlib; SPSOLVE is the program; STENCIL: 2D shapes such as box2d3r)

Above: over the stencils, the time of tensor cores per output, and the density of the operand, for the best tiles of instructions m16n8k32
and m16n8k16 in fp16. Below: for each stencil, the rate in the model over r1 and r2, one step on 10240 x 10240 points of an H200. The red
frame is the tile that kernels take.
"""
import json
import pathlib
import subprocess
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

INPUTS = pathlib.Path(__file__).resolve().parent.parent / "inputs"
SETTINGS = ("compute.precision=fp16", "time={steps=10, fuse=1}", "grid.shape=[10240, 10240]")
HALF_K = 932.6 / 625.2 / 2  # seconds of m16n8k16 over those of m16n8k32 (docs/log/ceilings.md)


def searched(program, stencil):
    settings = [word for setting in (*SETTINGS, f'stencil={{preset="{stencil}"}}') for word in ("--set", setting)]
    command = [program, "plan", INPUTS / "heat2d.toml", "--layouts", "--json", "-", "--device-model", INPUTS / "devices" / "h200.toml", *settings]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout)


def best_of(search, name, cost):
    """Returns the least instructions `name` of any tile, as instructions m16n8k32 per 128 outputs, and the density of that operand."""
    tile = min(search["tiles"], key=lambda tile: tile[name])
    outputs = search["shape"][0] * search["shape"][1]
    return tile[name] * cost * 128 / outputs, tile["density"] * tile["instructions"] / tile[name] * (1 if cost == 1 else 2)


def main(program, picture, *stencils):
    searches = {stencil: searched(program, stencil) for stencil in stencils}
    figure = plt.figure(figsize=(4.2 * max(2, len(stencils)), 7))
    above = [figure.add_subplot(2, 2, i + 1, title=title) for i, title in enumerate(
        ("tensor cores: time per 128 outputs, in m16n8k32", "density: weights / multiplications"))]
    for fragment, name, cost in (("m16n8k32", "instructions", 1), ("m16n8k16", "instructions_of_half_k", HALF_K)):
        for axis, values in zip(above, zip(*(best_of(search, name, cost) for search in searches.values()))):
            axis.plot(stencils, values, marker="o", label=fragment)
    for axis in above:
        axis.set_ylim(0, None)
        axis.legend()
    for i, (stencil, search) in enumerate(searches.items()):
        axis = figure.add_subplot(2, len(stencils), len(stencils) + i + 1, title=stencil, xlabel="r1", ylabel="r2")
        rates = [[float("nan")] * 16 for _ in range(16)]
        for tile in search["tiles"]:
            _, r2, r1 = tile["tile"]
            rates[r2 - 1][r1 - 1] = tile["gstencil_per_s"]
            if tile["taken"]:
                axis.add_patch(plt.Rectangle((r1 - 0.5, r2 - 0.5), 1, 1, fill=False, edgecolor="red", linewidth=2))
        figure.colorbar(axis.imshow(rates, origin="lower", extent=(0.5, 16.5, 0.5, 16.5)), ax=axis, label="GStencil/s in the model")
    figure.tight_layout()
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
