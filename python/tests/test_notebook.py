"""The notebooks of examples/python, executed from their first cell to their last."""

from __future__ import annotations

import os

import pytest
from conftest import REPOSITORY, package_or_skip

NOTEBOOKS = sorted((REPOSITORY / "examples" / "python").glob("*.ipynb"))


def printed_by(notebook) -> str:
    """What all cells printed and showed, as text."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return "\n".join(output.get("text", "") or str(output.get("data", {})) for output in outputs)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, monkeypatch):
    for package in ("nbclient", "nbformat", "ipykernel", "matplotlib"):
        package_or_skip(package)
    import nbclient
    import nbformat

    monkeypatch.setenv("INTARSIA", str(REPOSITORY))
    # The test's matplotlib opens no window, and leaves the kernel its own choice of what shows figures.
    monkeypatch.delenv("MPLBACKEND", raising=False)
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells), \
        f"{path.name} is kept without results: jupyter nbconvert --clear-output --inplace {path.relative_to(REPOSITORY)}"
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": os.fspath(path.parent)}}).execute()
    if path.stem == "from_model_to_firmware":
        printed = printed_by(notebook)
        assert printed.count("360 of 360 results equal the reference's") == 2
        assert "358 of 360 right" in printed and "proven optimal" in printed
        assert "<table>" in printed and "image/png" in printed
