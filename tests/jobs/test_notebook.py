"""The notebook runs from first to last cell on a warehouse, in a kernel with a Spark of its own."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "read_audit.ipynb"


def test_committed_without_outputs():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    cells = [c for c in notebook.cells if c.cell_type == "code"]
    assert len(cells) >= 5
    assert all(not c.outputs and c.execution_count is None for c in cells)


@pytest.fixture(scope="module")
def outputs(small_warehouse):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    settings = pytest.MonkeyPatch()
    settings.setenv("FAIRSCREEN_WAREHOUSE", small_warehouse.root)
    settings.setenv("FAIRSCREEN_MEMORY", "1g")
    settings.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    try:
        NotebookClient(notebook, timeout=180, kernel_name="python3").execute()
    finally:
        settings.undo()
    return [out for c in notebook.cells if c.cell_type == "code" for out in c.outputs]


def test_it_shows_effects_a_plot_and_the_walk_back(outputs):
    plain = "\n".join(out.get("text", "") for out in outputs)
    tables = "\n".join(out.get("data", {}).get("text/html", "") for out in outputs)
    assert "RIE: effective_n_below_30" in tables  # a reason stands where a number is missing
    assert "Mary Smith\nWorked as registered_nurses" in plain or "O'Neil</b>\nWorked as" in plain
    assert "TE = +2.500 stands on tables" in plain
    assert "reply: 55.0" in plain
    images = [out for out in outputs if "image/png" in out.get("data", {})]
    assert len(images) == 1
