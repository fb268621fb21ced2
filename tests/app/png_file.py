# SPDX-License-Identifier: Apache-2.0
"""Reads PNG files by zlib alone (https://www.w3.org/TR/png-3), so that another program than the writer's library does."""
import pathlib
import struct
import zlib

import numpy as np


class Png:
    """Holds pixels [line, column, red green blue] from the top left, and texts by their keywords."""

    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        self.texts, packed, at = {}, b"", 8
        while at < len(data):
            length, kind = struct.unpack(">I4s", data[at:at + 8])
            body, (check,) = data[at + 8:at + 8 + length], struct.unpack(">I", data[at + 8 + length:at + 12 + length])
            assert check == zlib.crc32(kind + body), kind
            if kind == b"IHDR":
                self.width, self.height, *form = struct.unpack(">IIBBBBB", body)
                assert form == [8, 2, 0, 0, 0], "8 bits, RGB, not interlaced"
            elif kind == b"IDAT":
                packed += body
            elif kind == b"tEXt":
                keyword, text = body.split(b"\0", 1)
                self.texts[keyword.decode()] = text.decode("latin-1")
            elif kind == b"iTXt":
                keyword, rest = body.split(b"\0", 1)
                assert rest[:2] == b"\0\0", "not compressed"
                self.texts[keyword.decode()] = rest[2:].split(b"\0", 2)[2].decode()
            at += 12 + length
        assert kind == b"IEND" and at == len(data)
        self.pixels = self.unfiltered(zlib.decompress(packed))

    def unfiltered(self, data):
        """Undoes the filter of each line."""
        stride = 3 * self.width
        assert len(data) == self.height * (1 + stride)
        lines, above = [], bytearray(stride)
        for start in range(0, len(data), 1 + stride):
            kind, line = data[start], bytearray(data[start + 1:start + 1 + stride])
            for i in range(stride):
                left, corner = (line[i - 3], above[i - 3]) if i >= 3 else (0, 0)
                if kind == 4:
                    guess = left + above[i] - corner
                    line[i] = (line[i] + min((left, above[i], corner), key=lambda value: abs(guess - value))) & 255
                elif kind:
                    line[i] = (line[i] + (left, above[i], (left + above[i]) // 2)[kind - 1]) & 255
            lines.append(line)
            above = line
        return np.array(lines, dtype=np.uint8).reshape(self.height, self.width, 3)

    def area(self):
        """Returns the pixels of the area, from the bottom: [line upwards, column, color]."""
        left, top, width, height = map(int, self.texts["area"].split())
        return self.pixels[top:top + height, left:left + width][::-1]

    def points(self, rows, columns):
        """Returns the colors of the points of an array, each of which has a rectangle of the area: [row, column, color]."""
        area = self.area()
        height, width = area.shape[0] // rows, area.shape[1] // columns
        blocks = area.reshape(rows, height, columns, width, 3)
        first = blocks[:, :1, :, :1]
        assert (blocks == first).all(), "a point has one color"
        return first[:, 0, :, 0]

    def range(self):
        return tuple(map(float, self.texts["range"].split()))
