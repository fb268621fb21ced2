# SPDX-License-Identifier: Apache-2.0
"""Reads and formats rows of `spsolve bench --json`."""
import json
import pathlib


def rows_of(*files):
    """Returns all rows of files, except those of failed cases. A file is a list or a record {..., "results": list}."""
    rows = []
    for file in files:
        content = json.loads(pathlib.Path(file).read_text())
        rows += content if isinstance(content, list) else content["results"]
    return [row for row in rows if "error" not in row]


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
