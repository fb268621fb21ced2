# SPDX-License-Identifier: Apache-2.0
"""Reads and writes rows of `spsolve bench --json`, and records of them.

A record is a JSON file of runs. A run says where, when and by which command it was measured. Its rows are lists of values;
"columns" names the values, and "of_all_rows" holds what is the same in every row:

    {"runs": [{"name": "walls", "command": ..., "device": ..., "commit": ..., "date": ..., "of_all_rows": {"suite": "walls"},
               "columns": ["stencil", "fuse"], "rows": [["1d1r", 16], ["1d2r", 12]]}]}

null stands for a value that a row does not have.
"""
import fnmatch
import json
import pathlib


def runs_of(source):
    """Returns the runs of a record. `source` is FILE, or FILE:NAME,NAME for the runs whose names match one of these patterns."""
    file, _, names = str(source).partition(":")
    runs = json.loads(pathlib.Path(file).read_text())["runs"]
    chosen = [run for name in (names or "*").split(",") for run in runs if fnmatch.fnmatchcase(run["name"], name)]
    if not chosen:
        raise SystemExit(f"{file} has no run '{names}'; it has {', '.join(run['name'] for run in runs)}")
    return chosen


def expanded(run):
    """Returns the rows of a run as dictionaries."""
    return [run["of_all_rows"] | {name: value for name, value in zip(run["columns"], row) if value is not None} for row in run["rows"]]


def rows_of(*sources):
    """Returns all rows of lists that `spsolve bench --json` wrote and of records (see runs_of()), without those of cases that failed."""
    rows = []
    for source in sources:
        file = pathlib.Path(str(source).partition(":")[0])
        content = json.loads(file.read_text())
        rows += content if isinstance(content, list) else [row for run in runs_of(source) for row in expanded(run)]
    return [row for row in rows if "error" not in row]


def compact(head, rows):
    """Returns a run with `head`, which says at least its name, and these rows."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    same = {name: rows[0][name] for name in columns if all(name in row and row[name] == rows[0][name] for row in rows)}
    columns = [name for name in columns if name not in same]
    return {**head, "of_all_rows": same, "columns": columns, "rows": [[row.get(name) for name in columns] for row in rows]}


def write_record(file, runs):
    """Writes the runs, a line for every row."""
    def text(run):
        head = json.dumps({name: value for name, value in run.items() if name != "rows"})
        return head[:-1] + ', "rows": [\n' + ",\n".join(json.dumps(row, separators=(",", ":")) for row in run["rows"]) + "\n]}"

    pathlib.Path(file).write_text('{"runs": [\n' + ",\n".join(map(text, runs)) + "\n]}\n")


def shape_of(row):
    """Returns the shape as text: 10240 x 10240, 1024^3 or 1.024e7."""
    shape = row["shape"]
    if len(shape) == 1:
        return f"{shape[0]:.4g}".replace("e+0", "e")
    return f"{shape[0]}^{len(shape)}" if len(set(shape)) == 1 and len(shape) > 2 else " x ".join(map(str, shape))


def way_of(row):
    """Returns unit and layout as text, such as "sparse-tensor, separable"."""
    return row["unit"] + ("" if row["layout"] == "none" else f", {row['layout']}")


def predicted(row):
    """Returns the rate in the model divided by the measured rate."""
    return row["predicted_gstencil_per_s"] * row["ranks"] / row["gstencil_per_s"]


def table(head, rows):
    """Prints a Markdown table; columns whose names end with `:` are aligned to the right."""
    print("| " + " | ".join(name.rstrip(":") for name in head) + " |")
    print("| " + " | ".join("---:" if name.endswith(":") else "---" for name in head) + " |")
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
