# SPDX-License-Identifier: Apache-2.0
"""The site of the documents: what its pages show, load and link to is there, and the commands of the gallery are those of the inputs."""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import spsolve

INPUTS = spsolve.SOURCE / "inputs"
DRAWN = ("fisher_kpp", "heat2d")  # the pictures of all inputs take minutes


@unittest.skipUnless(shutil.which("mkdocs"), "no mkdocs")
class Site(spsolve.TestCase):
    def test_the_gallery(self):
        site = spsolve.SOURCE / "docs/site.py"
        subprocess.run([sys.executable, "-B", site, spsolve.EXECUTABLE, self.directory, "--seconds", "20", "--inputs", *DRAWN],
                       check=True, capture_output=True, timeout=spsolve.LONGEST)
        page = self.directory / "site/gallery.html"
        text = page.read_text()
        pictures = re.findall(r'<img[^>]* src="(gallery/[^"]*)"', text)
        self.assertEqual([pathlib.Path(picture).stem for picture in pictures], list(DRAWN))
        pages = [file for file in (self.directory / "site").rglob("*.html") if file.name != "404.html"]  # its links begin with /
        self.assertGreater(len(pages), len(list(spsolve.SOURCE.glob("docs/*/*.md"))))
        for page in pages:
            for place in re.findall(r' (?:href|src)="([^"#?]+)', re.sub(r"<code.*?</code>", "", page.read_text(), flags=re.DOTALL)):
                if "://" not in place:
                    self.assertTrue((page.parent / place).exists(), f"{page.name} names {place}")
        sections = dict(re.findall(r'<h2 id="([^"]*)">(.*?)(?=<h2|$)', text, re.DOTALL))
        for file in sorted(INPUTS.glob("*.toml")):
            with self.subTest(file.name):
                section = sections[file.stem]
                self.assertIn(f"spsolve inputs/{file.name}\nspsolve plot out/{file.stem}\n", section)
                self.assertRegex(section, r"<pre><code>[^<]* = ", "it shows no equation")

    def test_inputs_write_where_the_gallery_says(self):
        for file in sorted(INPUTS.glob("*.toml")):
            with self.subTest(file.name):
                name = re.search(r'^name *= *"(.*?)"', file.read_text(), re.MULTILINE)
                self.assertEqual(name[1] if name else file.stem, file.stem)
                directory = re.search(r'^directory *= *"(.*?)"', file.read_text(), re.MULTILINE)
                self.assertEqual(directory[1] if directory else f"out/{file.stem}", f"out/{file.stem}")


if __name__ == "__main__":
    unittest.main()
