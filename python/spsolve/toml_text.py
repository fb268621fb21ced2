# SPDX-License-Identifier: Apache-2.0
"""Writes the sections of an input as TOML. The standard library only reads TOML."""
from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def document(sections: Mapping[str, Any]) -> str:
    """Returns the sections as a document. Keys keep their order, and keys that are None are left out."""
    lines: list[str] = []
    _table(lines, (), sections)
    return "\n".join(lines).strip("\n") + "\n"


def value(item: Any) -> str:
    """Returns a value in one line, or a text of several lines as it stands. Raises TypeError for what TOML has no value for."""
    if isinstance(item, np.generic) or (isinstance(item, np.ndarray) and item.ndim == 0):
        item = item.item()
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, (int, float)):
        return repr(item)
    if isinstance(item, str):
        return _text(item)
    if isinstance(item, os.PathLike):
        return _text(os.fspath(item))
    if isinstance(item, Mapping):
        pairs = (f"{_key(key)} = {value(of_key)}" for key, of_key in item.items() if of_key is not None)
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(item, np.ndarray):
        item = item.tolist()
    if isinstance(item, Sequence) and not isinstance(item, (bytes, bytearray)):
        return "[" + ", ".join(map(value, item)) + "]"
    raise TypeError(f"an input cannot hold {item!r} of type {type(item).__name__}")


def _table(lines: list[str], path: tuple[str, ...], table: Mapping[str, Any]) -> None:
    items = {key: item for key, item in table.items() if item is not None}
    below = {key: item for key, item in items.items() if _is_section(path, item)}
    lines.extend(f"{_key(key)} = {value(item)}" for key, item in items.items() if key not in below)
    for key, item in below.items():
        here = (*path, key)
        name = ".".join(map(_key, here))
        for entry in [item] if isinstance(item, Mapping) else item:
            lines.extend(["", f"[{name}]" if isinstance(item, Mapping) else f"[[{name}]]"])
            _table(lines, here, entry)


def _is_section(path: tuple[str, ...], item: Any) -> bool:
    """Tells tables with a header of their own from tables in a line: those below the root, and those that hold tables."""
    if isinstance(item, Mapping):
        return not path or path in {("fields",), ("stencils",)}
    return not path and isinstance(item, (list, tuple)) and len(item) > 0 and all(isinstance(entry, Mapping) for entry in item)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _quoted(key)


def _text(text: str) -> str:
    plain = all(character == "\n" or (character >= " " and character != "\x7f") for character in text)
    if "\n" in text and plain and "'''" not in text and not text.endswith("'"):
        return f"'''\n{text}'''"  # the line break behind the quotes is not part of the text
    return _quoted(text)


def _quoted(text: str) -> str:
    return '"' + "".join(_ESCAPES.get(c) or (f"\\u{ord(c):04x}" if c < " " or c == "\x7f" else c) for c in text) + '"'
