#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints tables of paper 003 ("Do we need tensor cores for stencil computations?") for spsolve, in Markdown.

sweet_spot.py 2 RATES MODEL COUNTED          per point and launch: C in flop, M in bytes, I = C / M, of the model and of counters
sweet_spot.py 3 RATES COUNTED CEILINGS       what binds, rate, and equation 13 beside the measured gain, for every unit and layout
sweet_spot.py 4 RATES COUNTED CEILINGS       dense against sparse tensor cores
sweet_spot.py verdicts RATES COUNTED CEILINGS   how often equation 13 agrees with the measured gain, and where it does not
sweet_spot.py ridges CEILINGS                P, B and I* = P / B of every instruction
sweet_spot.py published RATES                the rates of the paper's table 3 beside those of spsolve, with shares of a copy
sweet_spot.py model RATES                    equation 13 with the counts of the plan beside the measured gain, for every unit and layout
sweet_spot.py depths MODEL [COUNTED...]      I over the depth t, that of the model; with COUNTED, in brackets, of counters
sweet_spot.py distances MODEL COUNTED...     how far C, M and I of counters are from those of the model, least and most over t

RATES: rows of `spsolve bench --suite sweet-spot --json`. COUNTED: rows of bench/counters.py. MODEL: rows of bench/plan_counts.py.
Rows are files of rows, or records as RECORD.json:RUN,RUN. CEILINGS: `spsolve bench --suite ceilings --json`.
"""
import collections
import json
import pathlib
import sys

from rows import rows_of, table, way_of

# Table 3 of the paper, GStencil/s on an A100 of 1.94 TB/s by data sheet: EBISU on CUDA cores, then a code on tensor cores. Its "float" is fp32.
PUBLISHED = {("box2d1r", "fp64", 3): (260.90, "ConvStencil", 190.14), ("box2d3r", "fp64", 1): (64.05, "ConvStencil", 63.33),
             ("box2d1r", "fp32", 7): (318.31, "SPIDER", 1002.94), ("box2d7r", "fp32", 1): (50.35, "SPIDER", 143.28),
             ("box3d1r", "fp64", 3): (37.74, "ConvStencil", 24.63), ("box3d1r", "fp32", 7): (71.23, "SPIDER", 51.13)}
PUBLISHED_BANDWIDTH = 1.94e12
EQUAL = 0.25  # the part by which the plan's predictions may be off (docs/log/plan.md), within which two measured rates are equal

key_of = lambda row: tuple(str(row[name]) for name in ("stencil", "precision", "unit", "layout", "fuse"))
case_of = lambda row: (row["stencil"], row["precision"], row["fuse"])
text_of = lambda row: f"{row['stencil']} {row['precision']}"
off = lambda value, exact: f"{value:,.4g} ({100 * (value / exact - 1):+.0f}%)"
rate_of = lambda row: row["gstencil_per_s"]


def ceilings_of(file):
    return {rate["name"]: rate["sustained"] for rate in json.loads(pathlib.Path(file).read_text())["rates"]}


def runs_dense_wgmma(row):
    """Returns whether the kernel of a row multiplies windows by dense wgmma (docs/internals/kernels-wgmma.md)."""
    return (row["unit"], row["layout"], row["precision"], len(row["shape"])) in (("tensor", "strided-swap", half, 2) for half in ("fp16", "bf16"))


def instruction_of(row):
    """Returns the ceiling whose instructions the kernel of a row runs. In this record fp32 in direct layouts is bf16 on mma."""
    sparse, fp64 = row["unit"] == "sparse-tensor", row["precision"] == "fp64"
    if row["unit"] == "scalar":
        return "fma fp64" if fp64 else "fma fp32"
    if fp64:
        return "mma fp64 m16n8k16"
    if row["precision"] == "fp32":
        return "mma.sp tf32 m16n8k16" if row["layout"] == "separable" else "mma.sp bf16 m16n8k32" if sparse else "mma bf16 m16n8k16"
    if sparse and row["layout"] == "strided-swap" and len(row["shape"]) == 2:
        return "wgmma.sp fp16 m64n256k32, A in registers"
    return "mma.sp fp16 m16n8k32" if sparse else "mma fp16 m16n8k16"


def roofline_seconds(flop, moved, peak, bandwidth):
    """Returns the seconds per point and launch that the roofline allows, for flop and bytes per point and launch."""
    return max(flop / peak, moved / bandwidth)


def is_right(verdict, expected, measured):
    """Returns whether a verdict says what was measured; `expected` is the gain that it rests on."""
    return abs(measured - 1) <= EQUAL if verdict == "equal" else (measured > 1) == (expected > 1)


class Measured:
    """Holds a row with what was counted of it, under the measured ceilings."""

    def __init__(self, row, counted, ceilings):
        self.row, self.peak, self.bandwidth = row, ceilings[instruction_of(row)], ceilings["copy"]
        self.flop, self.bytes = counted["measured_C_flop"], counted["measured_M_bytes"]
        self.busy = counted.get("kernel", {})
        self.intensity, self.ridge = self.flop / self.bytes, self.peak / self.bandwidth
        self.bound = "compute" if self.intensity > self.ridge else "memory"
        self.seconds = roofline_seconds(self.flop, self.bytes, self.peak, self.bandwidth)


class Comparison:
    """Compares tensor cores with CUDA cores at the same depth."""

    def __init__(self, tensor, scalar):
        self.tensor = tensor
        self.scenario = 1 + 2 * (scalar.bound == "compute") + (tensor.bound == "compute")
        self.expected = scalar.seconds / tensor.seconds  # equation 13
        self.measured = rate_of(tensor.row) / rate_of(scalar.row)
        self.verdict = "equal" if self.scenario == 1 else "inside" if self.expected > 1 else "outside"
        self.agrees = is_right(self.verdict, self.expected, self.measured)


def measured_rows(rates, counted, ceilings):
    counts = {key_of(row): row for row in rows_of(counted)}
    rows = [row for row in rows_of(rates) if row["suite"] == "sweet-spot" and key_of(row) in counts]
    return [Measured(row, counts[key_of(row)], ceilings_of(ceilings)) for row in rows]


def comparisons_of(rows):
    scalars = {case_of(row.row): row for row in rows if row.row["unit"] == "scalar"}
    return [Comparison(row, scalars[case_of(row.row)]) for row in rows if row.row["unit"] != "scalar"]


def counted_lines(rates, model, counted):
    models, counts = ({key_of(row): row for row in rows_of(file)} for file in (model, counted))
    for row in rows_of(rates):
        if key_of(row) not in counts:
            continue
        now, found, scalar = models.get(key_of(row), row["model"]), counts[key_of(row)], row["unit"] == "scalar"
        C, M = found["measured_C_flop"], found["measured_M_bytes"]
        yield (text_of(row), row["fuse"], way_of(row), "" if scalar else f"{now['alpha']:.3g}", "" if scalar else f"{now['S']:.3g}",
               *(f"{now[name]:,.4g}" for name in ("C_flop", "M_bytes", "I_flop_per_byte")), off(C, now["C_flop"]), off(M, now["M_bytes"]),
               off(C / M, now["I_flop_per_byte"]))


def bottleneck_lines(rows):
    compared = {key_of(one.tensor.row): one for one in comparisons_of(rows)}
    for row in rows:
        one = compared.get(key_of(row.row))
        yield (text_of(row.row), row.row["fuse"], way_of(row.row), f"{row.intensity:,.4g}", f"{row.ridge:,.3g}", row.bound,
               f"{rate_of(row.row):,.0f}",
               *((one.scenario, f"{one.expected:.2f}", f"{one.measured:.2f}", one.verdict) if one else ("", "", "", "")))


def sparsity_lines(rows):
    for dense in rows:
        for sparse in rows:
            same = case_of(dense.row) == case_of(sparse.row) and dense.row["layout"] == sparse.row["layout"]
            if not same or (dense.row["unit"], sparse.row["unit"]) != ("tensor", "sparse-tensor"):
                continue
            yield (text_of(dense.row), dense.row["fuse"], dense.row["layout"],
                   *(f"{row.intensity:,.4g} of {row.ridge:,.3g}" for row in (dense, sparse)), dense.bound, sparse.bound,
                   *(f"{rate_of(row.row):,.0f}" for row in (dense, sparse)), f"{rate_of(sparse.row) / rate_of(dense.row):.2f}",
                   f"{dense.seconds / sparse.seconds:.2f}")


def verdict_lines(rows):
    compared = comparisons_of(rows)
    for verdict in ("inside", "outside", "equal"):
        ones = [one for one in compared if one.verdict == verdict]
        wrong = [f"{text_of(one.tensor.row)} t = {one.tensor.row['fuse']}, {way_of(one.tensor.row)}: {one.expected:.2f} expected, "
                 f"{one.measured:.2f} measured; busy: DRAM {one.tensor.busy['dram']:.0f}%, tensor {one.tensor.busy['tensor']:.0f}%, "
                 f"issue {one.tensor.busy['issue']:.0f}%, shared memory {one.tensor.busy['lsu_data']:.0f}%" for one in ones if not one.agrees]
        yield verdict, len(ones), len(ones) - len(wrong), "; ".join(wrong)
    yield "all", len(compared), sum(one.agrees for one in compared), ""


def ridge_lines(file):
    ceilings = ceilings_of(file)
    for name, rate in ceilings.items():
        if name.split()[0] in ("fma", "mma", "mma.sp", "wgmma", "wgmma.sp") and "int8" not in name:
            yield name, f"{rate * 1e-12:,.1f}", f"{ceilings['copy'] * 1e-12:.2f}", f"{rate / ceilings['copy']:,.1f}"


def alike(counted, model):
    """Returns {key: row} of the counted rows whose kernels are those of the model: on grids of the same shape (rows without one are of
    older records, whose 3D grids were larger) and, in those records, without the sweeps that run other instructions today."""
    shapes = {key_of(row): row["shape"] for row in rows_of(model)}
    found = {}
    for row in rows_of(*counted) if counted else []:
        moved = row["unit"] != "scalar" and (row["precision"] == "fp32" or row["layout"] == "strided-swap")
        is_same = row["shape"] == shapes.get(key_of(row)) if "shape" in row else len(shapes.get(key_of(row), [1] * 3)) < 3 and not moved
        if is_same:
            found[key_of(row)] = row
    return found


def intensities_of(counted, model):
    """Returns {key: I} of the counted rows whose kernels are those of the model."""
    return {key: row["measured_C_flop"] / row["measured_M_bytes"] for key, row in alike(counted, model).items()}


def distance_lines(model, *counted):
    """Prints a line for each stencil, precision, unit and layout: the depths that are counted, and the distances of their C, M and I."""
    counts, lines = alike(counted, model), collections.defaultdict(list)
    for row in rows_of(model):
        if key_of(row) in counts:
            lines[row["stencil"], row["precision"], way_of(row)].append((row, counts[key_of(row)]))
    for line, pairs in lines.items():
        C = [found["measured_C_flop"] / row["C_flop"] for row, found in pairs]
        M = [found["measured_M_bytes"] / row["M_bytes"] for row, found in pairs]
        ranges = [[100 * (ratio - 1) for ratio in ratios] for ratios in (C, M, [c / m for c, m in zip(C, M)])]
        depths = [row["fuse"] for row, _ in pairs]
        yield (*line, ", ".join(map(str, sorted(depths))), *(f"{min(each):+.0f} to {max(each):+.0f}%" for each in ranges))


def depth_lines(file, *counted):
    """Prints a line for each stencil, precision, unit and layout, with a column for each depth."""
    counts = intensities_of(counted, file)
    lines = collections.defaultdict(dict)
    for row in rows_of(file):
        found = f" ({counts[key_of(row)]:,.4g})" if key_of(row) in counts else ""
        lines[row["stencil"], row["precision"], way_of(row), f"{row['I_ridge']:,.3g}"][row["fuse"]] = f"{row['I_flop_per_byte']:,.4g}{found}"
    depths = sorted(set().union(*lines.values()))
    return depths, [(*line, *(cells.get(depth, "") for depth in depths)) for line, cells in lines.items()]


def verdict_of(roofline, model):
    """Returns the verdict of SweetSpot::verdict() (solver/plan/sweet_spot.cpp) on a gain by equation 13 and one that the plan predicts."""
    if abs(roofline - 1) < 1e-9:
        return "equal" if abs(model - 1) <= EQUAL else "contradicted"
    return "contradicted" if (roofline > 1) != (model > 1) else "sweet spot" if roofline > 1 else "outside"


def model_lines(rates):
    bandwidth_of = lambda row: 1e9 * row["copy_bandwidth_gb_per_s"]
    allowed = lambda row: roofline_seconds(*(row["model"][name] for name in ("C_flop", "M_bytes", "P_flop_per_s")), bandwidth_of(row))
    rows = rows_of(rates)
    scalars = {case_of(row): row for row in rows if row["unit"] == "scalar"}
    for row in rows:
        model, scalar = row["model"], scalars[case_of(row)]
        ridge = model["P_flop_per_s"] / bandwidth_of(row)
        line = text_of(row), row["fuse"], way_of(row), f"{model['I_flop_per_byte']:,.4g}", f"{ridge:,.3g}", f"{rate_of(row):,.0f}"
        if row is scalar:
            yield (*line, "", "", "", "", "")
            continue
        roofline, gain = allowed(scalar) / allowed(row), rate_of(row) / rate_of(scalar)
        verdict = verdict_of(roofline, model["speedup_model"])
        yield (*line, f"{roofline:.2f}", f"{model['speedup_model']:.2f}", f"{gain:.2f}", verdict,
               "yes" if is_right(verdict, model["speedup_model"] if verdict == "contradicted" else roofline, gain) else "no")


def published_lines(rates):
    """Prints the cases of the paper: its rates, those of spsolve on CUDA cores and the best on tensor cores, and the latter in fp16."""
    rows = rows_of(rates)
    of_copy = lambda rate, share: f"{rate:,.0f} ({100 * share:.0f}%)"
    text = lambda row: of_copy(rate_of(row), row["roofline_fraction"]) if row else "not measured"

    def best(case, scalar):
        return max((row for row in rows if case_of(row) == case and (row["unit"] == "scalar") == scalar), key=rate_of, default=None)

    for case, (cuda, code, tensor) in PUBLISHED.items():
        stencil, precision, fuse = case
        moved = int(precision[2:]) / 4 / fuse  # bytes per point and step: one read and one write per launch
        theirs = [of_copy(rate, 1e9 * rate * moved / PUBLISHED_BANDWIDTH) for rate in (cuda, tensor)]
        scalar, fast = best(case, True), best(case, False)
        yield (f"{stencil} {precision}", fuse, theirs[0], f"{theirs[1]}, {code}", f"{tensor / cuda:.2f}", text(scalar), text(fast),
               f"{rate_of(fast) / rate_of(scalar):.2f}", "none" if precision == "fp64" else text(best((stencil, "fp16", fuse), False)))


def main(number, *files):
    if number == "2":
        table(["case", "t:", "unit, layout", "alpha:", "S:", "C:", "M:", "I:", "C counted:", "M counted:", "I counted:"], counted_lines(*files))
    elif number == "3":
        table(["case", "t:", "unit, layout", "I counted:", "I*:", "bound", "GStencil/s:", "scenario:", "gain by equation 13:", "measured:",
               "verdict"], bottleneck_lines(measured_rows(*files)))
    elif number == "4":
        table(["case", "t:", "layout", "I of I*, dense:", "sparse:", "bound, dense", "sparse", "GStencil/s, dense:", "sparse:",
               "sparse / dense:", "by the roofline:"], sparsity_lines(measured_rows(*files)))
    elif number == "verdicts":
        table(["verdict of equation 13", "rows:", "as measured:", "not as measured"], verdict_lines(measured_rows(*files)))
    elif number == "ridges":
        table(["instruction", "P, TFLOP/s:", "B, TB/s:", "I*, flop/B:"], ridge_lines(*files))
    elif number == "published":
        table(["case", "t:", "EBISU, A100:", "tensor cores, A100:", "gain:", "spsolve, CUDA cores:", "tensor cores:", "gain:", "tensor cores in fp16:"],
              published_lines(*files))
    elif number == "model":
        table(["case", "t:", "unit, layout", "I:", "I*:", "GStencil/s:", "gain by equation 13:", "by the plan:", "measured:", "verdict", "right"],
              model_lines(*files))
    elif number == "distances":
        table(["stencil", "precision", "unit, layout", "t counted", "C, from the plan:", "M:", "I:"], distance_lines(*files))
    else:
        depths, lines = depth_lines(*files)
        table(["stencil", "precision", "unit, layout", "I*:", *(f"t = {depth}:" for depth in depths)], lines)


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("2", "3", "4", "verdicts", "ridges", "published", "model", "depths", "distances"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
