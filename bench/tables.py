#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the tables of the documents, in Markdown, from rows of `spsolve bench --json` and of records (bench/rows.py: FILE, or FILE:RUN,RUN).

tables.py paper ROWS PUBLIC ROWS...       what the plan chose for the benchmark shapes, beside public codes and, from more rows, what
                                          the fastest candidate does at their depth
tables.py rates ROWS PUBLIC               its rates alone, a row for each shape
tables.py public PUBLIC                   all that public codes did
tables.py peers PUBLIC CEILINGS SYSTEM,SYSTEM ROWS...   these codes beside the fastest rates on record: at their depth, and at any;
                                          records whose names say h100 serve where the card of the codes has no rate
tables.py preprocessing ROWS PAPER        seconds before the first launch, and their share of a run as SparStencil measures it
tables.py inputs ROWS                     inputs: what the plan chose beside the best of the candidates
tables.py systems ROWS...                 systems of equations: single steps, and the steps per launch that the plan chose
tables.py multiples RECORD...             systems in several steps: the multiple of one pass per step that is wanted, and those of the
                                          fastest rows between walls of 0 and of 0.5 and on periodic grids, sustained, over the median copy
                                          of the run, steps in brackets; a star behind tiles that were given by hand and that no row of a plan has
tables.py sources ROWS                    what the plan chose for benchmark shapes with a source, as `inputs`
tables.py rivals ROWS                     the two fastest candidates, case by case
tables.py walls ROWS                      what the plan chose between walls where that is tensor cores
tables.py catalogue ROWS... list.txt      what it chose for every stencil that `spsolve bench --list` lists
tables.py ablation ROWS [STENCIL,STENCIL] CUDA cores, dense and sparse tensor cores, layout by layout
tables.py layouts ROWS PRECISION          the steps of --suite layouts or ablation; in layouts the kernels of the solver follow
tables.py sizes ROWS PRECISION            rates over the side of the grid (1D: the same number of points; 3D: about the same)
tables.py gemm ROWS                       the steps of the sparse GEMM beside the worklog, clock, power and counters
tables.py targets ROWS                    target rates, and what each kernel has and keeps busy
tables.py scalar ROWS                     the scalar unit between walls, sustained and, in brackets, boost
tables.py ceilings ceilings.json          what nothing on the device exceeds, boost and sustained
tables.py output ROWS                     what snapshots and checkpoints cost a run
tables.py scaling ROWS                    the same problem on several GPUs, and larger ones
tables.py strong ROWS                     the same problem on several GPUs, a row for each
tables.py startup ROWS                    what a run takes before its time loop
tables.py steps ROWS                      single steps of the scalar unit beside one thread per point
tables.py sweeps ROWS                     sweeps on tensor cores: rates, shares of a copy
"""
import collections
import json
import pathlib
import statistics
import sys

from rows import expanded, predicted, rows_of, runs_of, shape_of, table, way_of

if len(sys.argv) < 3:
    sys.exit(__doc__)
kind, *files = sys.argv[1:]
BYTES = {"fp64": 8, "fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2}
rate = lambda row: row["gstencil_per_s"]
short = lambda number: f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def fastest_public(file):
    """Returns the fastest row of public codes for every stencil and precision."""
    fastest = {}
    for row in rows_of(file):
        case = row["stencil"], row["precision"]
        if case not in fastest or rate(row) > rate(fastest[case]):
            fastest[case] = row
    return fastest


def public_text(row):
    """Returns a rate as text, with its system and what makes it hard to compare: small grids and known steps per launch."""
    small = [shape_of(row)] if row["system"] == "EBISU" and "shape" in row else []
    steps = [f"t = {row['steps_per_launch']}"] if "steps_per_launch" in row else []
    return f"{rate(row):,} ({', '.join([row['system'], *small, *steps])})"


def rows_with_cards(files):
    """Returns rows; those of records whose names say h100 name their card, since public codes ran on an H200."""
    return [row | ({"card": "H100"} if "h100" in file else {}) for file in files for row in rows_of(file)]


def alike(public, rows):
    """Returns the rows of a periodic case without source that a public code did too, at any depth, the fastest first. Rows without a
    unit are of kernels that no solver takes."""
    walls = lambda row: set(row["boundary"] if isinstance(row.get("boundary"), list) else [row.get("boundary", "periodic")])
    found = [row for row in rows if (row.get("stencil"), row.get("precision")) == (public["stencil"], public["precision"])
             and walls(row) == {"periodic"} and not row.get("source") and "unit" in row]
    return sorted(found, key=lambda row: (row.get("card", ""), -rate(row)))


def at_depth_of(public, rows):
    """Returns the fastest of these rows at the depth of the public code, or None."""
    return next((row for row in alike(public, rows) if row["fuse"] == public.get("steps_per_launch", "unknown")), None)


def share_of_copy(row, steps, copy):
    """Returns the bandwidth of one read and one write per launch, as a share of that of a copy."""
    return f"{200 * rate(row) * 1e9 / steps * BYTES[row['precision']] / copy:.0f}%"


if kind == "paper":
    public, measured = fastest_public(files[1]), rows_with_cards(files[2:])
    order = ("fp16", "bf16", "tf32", "fp32", "fp64")
    lines = []
    for row in sorted(rows_of(files[0]), key=lambda row: order.index(row["precision"])):
        if not row["chosen"]:
            continue
        other = public.get((row["stencil"], row["precision"]))
        lines.append((f"{row['stencil']} {row['precision']}", shape_of(row), way_of(row), row["fuse"], f"{rate(row):,.0f}",
                      f"{100 * row['roofline_fraction']:.0f}%", f"{row['error_l2'] / row['error_steps']:.0e}" if row["error_l2"] else "0",
                      public_text(other) if other else "",
                      ", ".join([f"{rate(same):,.0f}", *([same["card"]] if "card" in same else [])])
                      if other and (same := at_depth_of(other, measured)) else ""))
    table(["case, periodic", "grid", "how (by the plan)", "steps per launch:", "G/s:", "of a copy:", "error per step:",
           "fastest public code, same GPU:", "G/s at its depth:"], lines)
elif kind == "rates":
    public = fastest_public(files[1])
    cases = collections.defaultdict(dict)
    for row in rows_of(files[0]):
        if row["chosen"]:
            other = public.get((row["stencil"], row["precision"]))
            small = f", {shape_of(other)}" if other and other["system"] == "EBISU" and "shape" in other else ""
            cases[row["stencil"], shape_of(row)][row["precision"]] = f"{rate(row):,.0f}" + (f" ({rate(other):,} {other['system']}{small})" if other else "")
    precisions = ("fp16", "fp32", "fp64")
    table(["case, periodic", "grid", *(f"{precision}:" for precision in precisions)],
          [(*case, *(cells[precision] for precision in precisions)) for case, cells in cases.items()])
elif kind == "peers":
    copy = next(ceiling["sustained"] for ceiling in json.loads(pathlib.Path(files[1]).read_text())["rates"] if ceiling["name"] == "copy")
    measured, lines = rows_with_cards(files[3:]), []
    here = lambda row, *more: ", ".join([way_of(row), *map(str, more), *([row["card"]] if "card" in row else [])])
    for row in rows_of(files[0]):
        if row["system"] not in files[2].split(","):
            continue
        steps, same, best = row.get("steps_per_launch"), at_depth_of(row, measured), next(iter(alike(row, measured)), None)
        lines.append((row["system"], f"{row['stencil']} {row['precision']}", shape_of(row) if "shape" in row else "not known", steps or "not known",
                      f"{rate(row):,}", share_of_copy(row, steps, copy) if steps else "not known",
                      f"{rate(same):,.0f} ({here(same)})" if same else "depth not known" if not steps else "not measured",
                      "depth not known" if not steps else f"{100 * same['roofline_fraction']:.0f}%" if same and "card" in same
                      else share_of_copy(same, steps, copy) if same else "not measured",
                      f"{rate(best):,.0f} ({here(best, best['fuse'])})" if best else "not measured"))
    table(["code", "case", "its grid", "t:", "G/s:", "of a copy:", "spsolve at this t, G/s:", "of a copy:", "spsolve at its best t, G/s:"], lines)
elif kind == "preprocessing":
    run = {1: 10000, 2: 10240, 3: 1024}  # time steps of SparStencil's table 2, by dimensions
    paper = {row["stencil"]: row for row in rows_of(files[1]) if row["chosen"] and row["precision"] == "fp16"}
    parts, lines = ("search", "matching", "operand", "metadata", "compile"), []
    for row in rows_of(files[0]):
        fast = paper[row["stencil"]]
        points = 1
        for extent in fast["shape"]:
            points *= extent
        made = sum(row[part] for part in parts if part != "compile")
        seconds = points * run[len(fast["shape"])] / (1e9 * rate(fast))
        lines.append((row["stencil"], row["fuse"], row["fused_taps"], " x ".join(map(str, row["tile"])),
                      f"{row['instructions_found']:.3g}, {row['instructions_of_kernel']:.3g}", *(f"{1e3 * row[part]:.3g}" for part in parts),
                      f"{1e3 * seconds:,.3g}",
                      *(f"{100 * before / (before + seconds):.2g}%" for before in (made, made + row["compile"]))))
    table(["case, fp16", "t:", "taps:", "tile found", "instructions, found and run:", *(f"{part}, ms:" for part in parts), "a run, ms:", "share of it:", "with compile:"], lines)
elif kind == "public":
    table(["code", "stencil", "precision", "grid", "steps per launch:", "GStencil/s:", "version", "command", "remark"],
          [(row["system"], row["stencil"], row["precision"], shape_of(row) if "shape" in row else "not known", row.get("steps_per_launch", "not known"),
            f"{rate(row):,}", row.get("version", "not known"), row.get("command", "not known"), row.get("note", "")) for row in rows_of(files[0])])
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
elif kind == "systems":
    cases = collections.defaultdict(dict)  # rows by depth; later ones replace earlier ones
    for row in rows_of(*files):
        if row["chosen"]:
            cases[row["stencil"], row["precision"]][row["fuse"]] = row
    lines = []
    for (name, precision), rows in sorted(cases.items()):
        single, several = (rows[end(rows)] for end in (min, max))
        limit = rate(single) / single["roofline_fraction"]  # the bound of codes that read and write every array once per step
        lines.append((name, shape_of(several), precision, short(limit), short(rate(single)), short(rate(several)), several["fuse"], f"{rate(several) / limit:.1f}"))
    table(["equations", "grid", "precision", "limit of one pass per step:", "single steps:", "several per pass:", "steps per pass:", "times the limit:"], lines)
elif kind == "multiples":
    demanded = json.loads(pathlib.Path(__file__).with_name("targets.json").read_text())["multiples_demanded"]
    cases, planned = collections.defaultdict(dict), set()
    for run in (run for file in files for run in runs_of(file)):
        rows = [row for row in expanded(run) if f"{row['case']} {row['precision']}" in demanded]
        for row in rows:
            beside = [other for other in rows if (other["shape"], other["precision"]) == (row["shape"], row["precision"])]
            row["copy"] = statistics.median(other["copy_bytes_per_s"] for other in beside)
            row["way"] = row["case"], row["precision"], tuple(row["shape"]), row["fuse"], tuple(row.get("tile") or ())
            if "--tile" not in run["command"]:
                planned.add(row["way"])
            shape = shape_of({"shape": [extent for extent in row["shape"] if extent > 1]})
            best = cases[row["case"], row["precision"], shape]
            best[row["walls"]] = max(best.get(row["walls"], row), row, key=lambda row: row["gpoints_per_s_sustained"])

    def multiple(row):
        # Older runs do not say how many bytes must move.
        moved = row.get("bytes_per_point") or round(row["copy_share"] * row["copy_bytes_per_s"] / row["gpoints_per_s"] / 1e9)
        return row["gpoints_per_s_sustained"] * 1e9 * moved / row["copy"]

    lines = []
    for case, walls in sorted(cases.items()):
        cells = [f"{multiple(row):.2f} ({row['fuse']}), {short(row['gpoints_per_s_sustained'])}{'' if row['way'] in planned else '*'}" if row else ""
                 for row in map(walls.get, "0dp")]
        lines.append((*case, demanded[" ".join(case[:2])], *cells))
    table(["system", "precision", "grid", "wanted:", "walls of 0:", "walls of 0.5:", "periodic:"], lines)
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
    steps = collections.defaultdict(dict)
    scalar = {}
    rows = [row for row in rows_of(files[0]) if "step" not in row and (len(files) == 1 or row["stencil"] in files[1].split(","))]
    for row in rows:
        case = row["stencil"], row["precision"], tuple(row["shape"]), row["fuse"]
        if row["unit"] == "scalar":
            scalar[case] = row
        else:
            steps[(*case, row["layout"])][row["unit"]] = row
    text = lambda row: short(rate(row)) if row else "none"
    gain = lambda row, other: f"{rate(row) / rate(other):.2f}" if row and other else "none"
    several = len({(row["stencil"], *row["shape"]) for row in rows}) > len({row["stencil"] for row in rows})
    lines = []
    for (*case, layout), units in sorted(steps.items(), key=lambda item: item[0][:4]):
        cuda, dense, sparse = scalar.get(tuple(case)), units.get("tensor"), units.get("sparse-tensor")
        stencil, precision, shape, fuse = case
        grid = [shape_of({"shape": shape})] if several else []
        lines.append((stencil, precision, *grid, layout, fuse, text(cuda), text(dense), text(sparse), gain(dense, cuda), gain(sparse, dense), gain(sparse, cuda)))
    table(["stencil", "precision", *(["grid"] if several else []), "layout", "t:", "CUDA cores:", "dense:", "2:4 sparse:", "dense / CUDA cores:",
           "sparse / dense:", "sparse / CUDA cores:"], lines)
elif kind == "layouts":
    lines, before = [], {}
    for row in rows_of(files[0]):
        if row["precision"] != files[1] or "step" not in row and row["suite"] != "layouts":
            continue
        of_solver = "the solver: " + ("CUDA cores" if row["unit"] == "scalar" else way_of(row)) if "unit" in row else None
        gain = f"{rate(row) / before[row['stencil']]:.2f}" if row["stencil"] in before and not of_solver else "none"
        before[row["stencil"]] = rate(row)
        lines.append((row["stencil"], row["fuse"], of_solver or row["step"], short(rate(row)), gain))
    lines.sort(key=lambda line: line[0])
    table(["stencil", "t:", "step", "GStencil/s:", "over the row above:"], lines)
elif kind == "sizes":
    lines, sides = collections.defaultdict(dict), (256, 512, 1024, 2048, 4096, 10240)
    for row in rows_of(files[0]):
        if row["precision"] == files[1]:
            points = 1
            for extent in row["shape"]:
                points *= extent
            side = min(sides, key=lambda side: abs(side * side / points - 1)) if len(row["shape"]) < 3 or points < 5e8 else 10240
            lines[row["stencil"]][side] = f"{short(rate(row))} ({row['fuse']})"
    table(["stencil", *(f"{side}:" for side in sides)], [(stencil, *(cells.get(side, "none") for side in sides)) for stencil, cells in lines.items()])
elif kind == "gemm":
    sheet = {"fp16": (1979e12, 1513e12), "e4m3": (3958e12, 3026e12)}  # H100 SXM and H200; H800 PCIe
    share = lambda value, peak: f"{value * 1e-12:,.0f} ({100 * value / peak:.0f}%)" if value else "none"
    lines = []
    for row in rows_of(files[0]):
        ours, theirs = sheet[row["format"]]
        kernel = row.get("kernel", {})
        lines.append((row["format"], row["step"], share(row["flop_per_s"], ours), share(row["flop_per_s_sustained"], ours),
                      share(row["published_flop_per_s"], theirs), f"{row['clock_mhz'] / 1000:.2f}", f"{row['power_w']:.0f}",
                      f"{kernel['tensor']:.0f}" if kernel else "none", f"{kernel['l2']:.0f}" if kernel else "none", f"{kernel['dram']:.0f}" if kernel else "none"))
    table(["format", "step", "boost, TFLOP/s:", "sustained:", "worklog:", "clock, GHz:", "power, W:", "tensor, %:", "L2, %:", "DRAM, %:"], lines)
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
