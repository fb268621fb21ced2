#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the tables of the documents, in Markdown, from records of `spsolve bench --json` and bench_cuda_tensor.

tables.py paper paper.json public.json    choices of the plan for the benchmark shapes, compared with public codes
tables.py rates paper.json public.json    only the rates of these choices, one row per shape
tables.py inputs candidates.json          inputs: choices of the plan and the best candidates
tables.py sources sources.json            benchmark shapes with a source: the same columns
tables.py rivals pairs.json               the two fastest measured candidates of each case
tables.py walls candidates.json           problems with walls for which the plan chose tensor cores
tables.py catalogue candidates.json... list.txt   choices of the plan for every stencil of `spsolve bench --list`
tables.py ablation ablation.json          gain by sparsity for each layout
tables.py targets targets.json            target rates, and resources and utilization of each kernel
tables.py scalar scalar.json              the scalar unit between walls, sustained and, in brackets, boost
tables.py ceilings ceilings.json          measured limits of the device, boost and sustained
tables.py output output.json              cost of snapshots and checkpoints
tables.py scaling scaling.json            strong and weak scaling on several GPUs
tables.py strong scaling.json             only strong scaling, one row per problem
tables.py startup startup.json            time of a run before its time loop
tables.py steps stars.json                single steps of the scalar unit, compared with one thread per point
tables.py sweeps tensor.json              sweeps on tensor cores: rates, shares of a copy
"""
import collections
import json
import pathlib
import sys

from rows import predicted, rows_of, shape_of, table, way_of

if len(sys.argv) < 3:
    sys.exit(__doc__)
kind, *files = sys.argv[1:]
rate = lambda row: row["gstencil_per_s"]
short = lambda number: f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
if kind == "paper":
    public = json.loads(pathlib.Path(files[1]).read_text())["fastest"]
    order = ("fp16", "bf16", "tf32", "fp32", "fp64")
    lines = []
    for row in sorted(rows_of(files[0]), key=lambda row: order.index(row["precision"])):
        if not row["chosen"]:
            continue
        case = f"{row['stencil']} {row['precision']}"
        other = public.get(case)
        lines.append((case, shape_of(row), way_of(row), row["fuse"], f"{rate(row):,.0f}", f"{100 * row['roofline_fraction']:.0f}%",
                      f"{row['error_l2'] / row['error_steps']:.0e}" if row["error_l2"] else "0", f"{other[0]:,} ({other[1]})" if other else ""))
    table(["case, periodic", "grid", "how (by the plan)", "steps per launch:", "G/s:", "of a copy:", "error per step:",
           "fastest public code, same GPU:"], lines)
elif kind == "rates":
    public = json.loads(pathlib.Path(files[1]).read_text())["fastest"]
    cases = collections.defaultdict(dict)
    for row in rows_of(files[0]):
        if row["chosen"]:
            other = public.get(f"{row['stencil']} {row['precision']}")
            cases[row["stencil"], shape_of(row)][row["precision"]] = f"{rate(row):,.0f}" + (f" ({other[0]:,} {other[1]})" if other else "")
    precisions = ("fp16", "fp32", "fp64")
    table(["case, periodic", "grid", *(f"{precision}:" for precision in precisions)],
          [(*case, *(cells[precision] for precision in precisions)) for case, cells in cases.items()])
elif kind in ("inputs", "sources"):
    cases = collections.defaultdict(list)
    for row in rows_of(files[0]):
        if row["suite"] == kind:
            cases[row["stencil"], row["precision"]].append(row)
    lines = []
    for (name, _), rows in cases.items():
        chosen, best = next(row for row in rows if row["chosen"]), max(rows, key=rate)
        lines.append((name, shape_of(chosen), chosen["precision"], f"{way_of(chosen)}, {chosen['fuse']}", short(rate(chosen)),
                      f"{way_of(best)}, {best['fuse']}", short(rate(best)), f"{100 * rate(chosen) / rate(best):.0f}%", len(rows)))
    table(["input" if kind == "inputs" else "with a source", "grid", "precision", "chosen", "G/s:", "best measured", "G/s:", "chosen / best:", "candidates measured:"], lines)
elif kind == "rivals":
    cases = collections.defaultdict(list)
    for row in rows_of(files[0]):
        walls = next((wall for wall in row["boundary"] if wall != "periodic"), "") if isinstance(row["boundary"], list) else row["boundary"]
        cases[row["stencil"], shape_of(row), walls or "periodic", "yes" if row["source"] else ""].append(row)
    lines = []
    for case, rows in cases.items():
        best = sorted(rows, key=rate, reverse=True)
        lines.append((*case, *(cell for row in (*best, *[None] * (2 - len(best))) for cell in
                               ((f"{way_of(row)}, {row['fuse']}", f"{rate(row):,.0f}", f"{100 * predicted(row):.0f}%") if row else ("", "", "")))))
    table(["case", "grid", "walls", "source", "best, steps", "G/s:", "model:", "next", "G/s:", "model:"], lines)
elif kind == "walls":
    lines = []
    for row in rows_of(files[0]):
        if row["suite"] == kind and row["chosen"] and row["unit"] != "scalar":
            lines.append((row["stencil"], row["precision"], shape_of(row), row["boundary"][0], way_of(row), row["fuse"], short(rate(row)),
                          f"{100 * row['roofline_fraction']:.0f}%"))
    table(["case", "precision", "grid", "walls", "how (by the plan)", "steps per launch:", "G/s:", "of a copy:"], lines)
elif kind == "catalogue":
    chosen = {(row["stencil"], row["precision"]): row for row in rows_of(*files[:-1]) if row["suite"] == kind and row["chosen"]}
    lines = []
    for line in pathlib.Path(files[-1]).read_text().splitlines():
        name, _, points, _, about = line.split(maxsplit=4)
        about, equation = about.rsplit("; ", 1)
        domain, source = about.split(": ", 1)
        cells = [name, points]
        for precision in ("fp32", "fp16"):
            row = chosen[name, precision]
            cells += [f"{way_of(row)}, {row['fuse']}", short(rate(row)), f"{row['error_l2']:.0e}"]
        lines.append((*cells, domain, equation, source))
    table(["stencil", "points:", "fp32 by", "G/s:", "error:", "fp16 by", "G/s:", "error:", "domain", "equation", "source"], lines)
elif kind == "ablation":
    same = ("stencil", "precision", "layout", "fuse")
    dense = {tuple(row[name] for name in same): row for row in rows_of(files[0]) if row["unit"] == "tensor"}
    lines = []
    for row in rows_of(files[0]):
        other = dense.get(tuple(row[name] for name in same))
        if row["unit"] == "sparse-tensor" and other:
            lines.append((row["stencil"], row["precision"], row["layout"], row["fuse"], f"{rate(other):,.0f}", f"{rate(row):,.0f}",
                          f"{rate(row) / rate(other):.2f}", f"{predicted(other):.2f}, {predicted(row):.2f}"))
    table(["stencil", "precision", "layout", "t:", "dense:", "2:4 sparse:", "sparse / dense:", "model, dense and sparse:"], lines)
elif kind == "targets":
    demanded = json.loads(pathlib.Path(__file__).with_name("targets.json").read_text())["demanded"]
    order = {case: i for i, case in enumerate(demanded)}
    case_of = lambda row: f"{row['stencil']} {row['precision']}"
    lines = []
    for row in sorted(rows_of(files[0]), key=lambda row: (order[case_of(row)], row["fuse"], row["shape"])):
        kernel = row["kernel"]
        stalls = sorted(((value, name.removeprefix("stall_").replace("_", " ")) for name, value in kernel.items()
                         if name.startswith("stall_")), reverse=True)[:2]
        lines.append((case_of(row), shape_of(row), way_of(row), row["fuse"], f"{rate(row):,.0f}", f"{demanded[case_of(row)]:,}",
                      f"{100 * row['roofline_fraction']:.0f}", f"{kernel['registers']:.0f}", f"{kernel['shared_bytes'] / 1024:.0f}",
                      *(f"{kernel[name]:.0f}" for name in ("warps_per_multiprocessor", "dram", "l2", "tensor", "fma", "fp64",
                                                           "lsu_data", "issue")),
                      ", ".join(f"{name} {value:.1f}" for value, name in stalls),
                      f"{row['clock_mhz'] / 1000:.2f} GHz, {row['power_w']:.0f} W"))
    table(["case, periodic", "grid", "how (by the plan)", "steps:", "G/s:", "demanded:", "of a copy, %:", "registers:", "shared, KB:",
           "warps:", "DRAM:", "L2:", "tensor:", "FMA:", "fp64:", "LSU data:", "issue:", "a warp waits for", "under load"], lines)
elif kind == "scalar":
    demanded = json.loads(pathlib.Path(__file__).with_name("targets.json").read_text())["demanded_of_the_scalar_unit"]
    cases = collections.defaultdict(dict)
    for row in rows_of(files[0]):
        cases[row["stencil"], row["precision"], row["fuse"]][row["walls"]] = row
    lines = []
    for (stencil, precision, fuse), walls in cases.items():
        rates = [f"{walls[wall]['gstencil_per_s_sustained']:,.0f} ({rate(walls[wall]):,.0f})" if wall in walls else "" for wall in "dpn"]
        best = max(row["roofline_fraction"] for row in walls.values())
        wanted = demanded.get(f"{stencil} {precision}")
        lines.append((f"{stencil} {precision}", fuse, f"{wanted:,}" if wanted else "", *rates, f"{100 * best:.0f}%"))
    table(["case", "steps:", "demanded:", "dirichlet:", "periodic:", "neumann:", "of a copy (best):"], lines)
elif kind == "ceilings":
    giga = lambda value: f"{value * 1e-9:,.0f}"
    table(["ceiling", "boost, G:", "sustained, G:", "unit"],
          [(rate["name"], giga(rate["boost"]), giga(rate["sustained"]), rate["unit"])
           for rate in json.loads(pathlib.Path(files[0]).read_text())["rates"]])
elif kind == "output":
    lines = []
    for row in rows_of(files[0]):
        what = (f"points of stride {row['stride']} every {row['output_every']} steps" if row["output_every"]
                else f"checkpoints every {row['checkpoint_every']} steps")
        lines.append((what, f"{row['bytes_of_a_file'] / 1e6:,.0f} MB", row["steps"], f"{row['seconds_without']:.2f} s", f"{row['seconds']:.2f} s",
                      f"{100 * row['cost']:.1f}%"))
    table(["files", "size of one:", "steps:", "without:", "with:", "cost:"], lines)
elif kind == "scaling":
    lines = []
    for row in rows_of(files[0]):
        launch = 1e6 * row["seconds"] / row["steps"] * row["fuse"]
        lines.append((row["stencil"], row["scaling"], shape_of(row), row["fuse"], row["ranks"], row["transport"] if row["ranks"] > 1 else "",
                      row["exchange_every"], f"{rate(row):,.0f}", f"{100 * row['efficiency']:.1f}%", f"{launch:,.1f}"))
    table(["case, fp32", "scaling", "grid", "steps per launch:", "GPUs:", "transport", "launches per exchange:", "GStencil/s:", "efficiency:",
           "launch, us:"], lines)
elif kind == "strong":
    cases = collections.defaultdict(dict)
    for row in rows_of(files[0]):
        if row["scaling"] == "strong":
            cases[row["stencil"], shape_of(row)][row["ranks"]] = f"{rate(row):,.0f}"
    ranks = sorted(set().union(*cases.values()))
    table(["case", *(f"{n} GPU{'s' * (n > 1)}:" for n in ranks)],
          [(", ".join(case), *(cells.get(n, "") for n in ranks)) for case, cells in cases.items()])
elif kind == "startup":
    seconds = lambda row, part: f"{row[part]:.2f}" if part in row else ""
    table(["start", "ranks:", "process, s:", "until the time loop:", "time loop:"],
          [(row["what"], row["ranks"], *(seconds(row, part) for part in ("process", "seconds_setup", "seconds"))) for row in rows_of(files[0])])
elif kind == "steps":
    share = lambda value: f"{100 * value:.0f}%"
    table(["case", "precision", "grid", "walls", "one thread per point:", "GStencil/s:", "of a copy:", "of multiply-adds:", "model:"],
          [(row["stencil"], row["precision"], shape_of(row), row["boundary"], short(row["former_gstencil_per_s"]) if "former_gstencil_per_s" in row else "", short(rate(row)),
            share(row["roofline_fraction"]), share(row["compute_fraction"]), share(predicted({"ranks": 1, **row}))) for row in rows_of(files[0])])
else:
    lines = []
    for row in rows_of(files[0]):
        points = lambda value: f"{value / row['fuse']:,.0f}"
        lines.append((row["stencil"], row["precision"], row["fuse"], row.get("rank", ""), points(row["gstencil_per_s_sustained"]),
                      points(rate(row)), f"{row['gstencil_per_s_sustained']:,.0f}", f"{100 * row['roofline_fraction']:.0f}%"))
    table(["stencil", "precision", "t:", "rank:", "G points/s:", "boost:", "GStencil/s:", "of a copy:"], lines)
