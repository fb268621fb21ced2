# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/guide/tutorial.md, one after the other in one directory, as a reader types them."""
import os
import pathlib
import re
import subprocess
import unittest

import spsolve

GUIDE = spsolve.SOURCE / "docs/guide/tutorial.md"


class Tutorial(spsolve.TestCase):
    def test_its_commands_lead_to_the_echo_that_it_promises(self):
        text = GUIDE.read_text()
        blocks = re.findall(r"<!-- tested: .*? -->\n```sh\n(.*?)```", text, re.DOTALL)
        self.assertEqual(len(blocks), 4)
        path = f"{pathlib.Path(spsolve.EXECUTABLE).resolve().parent}{os.pathsep}{os.environ['PATH']}"
        ran = subprocess.run(["bash", "-e", "-c", "".join(blocks)], cwd=self.directory, capture_output=True, text=True,
                             env={**spsolve.ENVIRONMENT, "PATH": path}, stdin=subprocess.DEVNULL, timeout=spsolve.LONGEST, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        promised = re.search(r"`(the echo arrives at .*? s)`", text)[1]
        self.assertEqual(ran.stdout.splitlines()[-1], promised)
        for picture in ("out/shot/waves_0000000100.png", "out/shot/probes.png", "seismogram.png"):
            self.assertEqual((self.directory / "shot" / picture).read_bytes()[:8], b"\x89PNG\r\n\x1a\n")


if __name__ == "__main__":
    unittest.main()
