"""The example notebook runs from top to bottom in a real kernel: progress, tables, embedded pages."""

import json
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples/notebook.ipynb"


@pytest.mark.slow
def test_the_notebook_runs(tmp_path: Path) -> None:
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed (extra dev)")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed (extra dev)")
    import nbformat

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    bar, table = (output["data"]["text/html"] for output in cells[0].outputs if "data" in output)
    assert "4/4 episodes ended" in bar
    assert '<progress value="4" max="4"' in bar
    assert "<caption>results/random</caption>" in table
    shown = [output["data"].get("text/html", "") for output in cells[3].outputs if "data" in output]
    assert 'sandbox="allow-scripts"' in shown[0]
    assert "Verdicts" in shown[0]
    assert (tmp_path / "report/report.html").is_file()
    streams = [output for cell in cells for output in cell.outputs if output.output_type == "stream"]
    assert [output.text for output in streams if output.name == "stderr"] == []


def test_the_notebook_is_kept_without_outputs() -> None:
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    assert [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []
