"""The list of shipped inputs names every file and its true hash."""

from __future__ import annotations

import hashlib
import re

from fairscreen import resources


def test_the_readme_lists_every_shipped_file_with_its_hash():
    folder = resources.path("conf", "data")
    text = (folder / "README.md").read_text(encoding="utf-8")
    listed = {name: sha for sha, name in re.findall(r"^([0-9a-f]{64})  (\S+)$", text, re.MULTILINE)}
    shipped = {
        f.name: hashlib.sha256(f.read_bytes()).hexdigest()
        for f in folder.iterdir()
        if f.name != "README.md"
    }
    assert listed == shipped
    assert all(f"| `{name}` |" in text for name in shipped)
