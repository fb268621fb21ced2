#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what `spsolve plan --json` counts of candidates on an H200, as rows for bench/sweet_spot.py and bench/record.py. No GPU is
needed.

plan_counts.py SPSOLVE OUT.json cases RATES     the rows of `spsolve bench --suite sweet-spot`
plan_counts.py SPSOLVE OUT.json depths          two stars and two boxes at every depth, the fastest layout of each unit
"""
import json
import pathlib
import subprocess
import sys

from rows import rows_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEPTHS = range(1, 9)


def plan_of(program, stencil, shape, compute, fuse="auto"):
    """Returns the plan of a periodic problem without events. `compute` are lines of [compute]."""
    lines = ("[grid]", f"shape = {shape}", "[stencil]", f'preset = "{stencil}"', "[initial]", 'expression = "x"', "[time]",
             "steps = 1000000000", f"fuse = {json.dumps(fuse)}", "[diagnostics]", "every = 0", "[output]", "every = 0", "[compute]", *compute)
    command = [program, "plan", "-", "--device-model", ROOT / "inputs" / "devices" / "h200.toml", "--json", "-"]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{stencil} {compute}: {done.stderr}")
    return json.loads(done.stdout)


def case_rows(program, rates):
    for row in rows_of(rates):
        compute = [f'precision = "{row["precision"]}"', f'unit = "{row["unit"]}"']
        if row["layout"] != "separable":
            compute.append("accuracy = 1e30")  # some cases err more than their precision promises; it would also cut separable terms
        if row["layout"] != "none":
            compute.append(f'layout = "{row["layout"]}"')
        plan = plan_of(program, row["stencil"], row["shape"], compute, row["fuse"])
        (found,) = [one for one in plan["candidates"] if one["precision"] == row["precision"]]
        yield {"stencil": row["stencil"], "shape": row["shape"], **found}


def depth_rows(program):
    for stencil, shape in (("star2d1r", [10240, 10240]), ("box2d1r", [10240, 10240]), ("star3d1r", [512] * 3), ("box3d1r", [512] * 3)):
        for precision in ("fp64", "fp32", "fp16"):
            candidates = [one for one in plan_of(program, stencil, shape, [f'precision = "{precision}"'])["candidates"] if one["precision"] == precision]
            for unit in ("scalar", "tensor", "sparse-tensor"):
                of_unit = [one for one in candidates if one["unit"] == unit]
                layout = min(of_unit, key=lambda one: one["seconds"])["layout"] if of_unit else None
                yield from ({"stencil": stencil, "shape": shape, **one} for one in of_unit if one["layout"] == layout and one["fuse"] in DEPTHS)


def main(program, out, kind, *rates):
    rows = list(case_rows(program, *rates)) if kind == "cases" else sorted(depth_rows(program), key=lambda row: row["fuse"])
    kept = ("stencil", "shape", "precision", "unit", "layout", "fuse", "terms", "C_flop", "M_bytes", "I_flop_per_byte", "P_flop_per_s", "I_ridge",
            "alpha", "S", "scenario", "speedup_roofline", "speedup_model", "verdict", "gstencil_per_s")
    pathlib.Path(out).write_text(json.dumps([{name: row[name] for name in kept} for row in rows]))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
