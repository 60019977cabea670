"""A family in one file, from outside: through run, store, verdict and report, by an entry point."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent.parent / "examples" / "outer_family.py"


@pytest.fixture
def installed(tmp_path):
    """Lay the example where Python finds it, with the metadata of an installed package."""
    site = tmp_path / "site"
    about = site / "outer_family-1.0.dist-info"
    about.mkdir(parents=True)
    shutil.copy(EXAMPLE, site)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: outer-family\nVersion: 1.0\n")
    entry_points = "[nmfcheck.families]\nouter = outer_family:FAMILY\n"
    (about / "entry_points.txt").write_text(entry_points)

    def run(*arguments, code=0):
        path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
        done = subprocess.run(
            [sys.executable, "-m", "nmfcheck", *arguments],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
            timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return done.stdout

    return run


def test_it_has_at_most_80_lines():
    assert len(EXAMPLE.read_text().splitlines()) <= 80


@pytest.mark.slow
def test_a_right_subject_passes_and_all_files_show_the_family(installed, tmp_path):
    files = ("--report", "out.html", "--json", "out.json", "--junit", "out.xml")
    shown = installed("run", "coordinate-descent", "--family", "outer", *files)
    assert "PASS at 1e-10" in shown
    assert "200 of 200 trials passed" in shown
    assert "the bar is 90.0 % (95.0 % minus a margin of 5 points)" in shown
    (family,) = json.loads((tmp_path / "out.json").read_text())["subjects"][0]["families"]
    assert family["family"] == "outer"
    assert family["exactness"] is None
    assert [cell["cell"] for cell in family["counts"]] == ["6x4/uniform", "3x8/uniform"]
    assert "3×8" in (tmp_path / "out.html").read_text()
    assert "outer/6x4/uniform" in (tmp_path / "out.xml").read_text()
    again = installed("report", "runs/" + next(p.name for p in (tmp_path / "runs").iterdir()))
    assert "200 of 200 trials passed" in again


@pytest.mark.slow
def test_a_wrong_subject_fails_with_a_line_that_shows_it_again(installed, tmp_path):
    (tmp_path / "wrong.py").write_text(
        "def half(A, rank):\n    return A[:, :1] / 2, A[:1] / A[0, 0]\n"
    )
    shown = installed("run", "py:wrong.py:half", "--family", "outer", code=1)
    assert re.search(r"\b0 of \d+ trials passed", shown)
    assert "W·H is what it should be but for a factor of about 0.5" in shown
    line = next(line for line in shown.splitlines() if "nmfcheck replay outer/" in line)
    assert "WH misses A" in installed(*line.split()[1:])


def test_it_runs_beside_the_families_of_the_house(installed):
    shown = installed(
        "run", "als", "--family", "outer,bidiagonal", "--trials", "3", code=3
    )  # fmt: skip
    assert "quick suite: outer" in shown
    assert "quick suite: bidiagonal" in shown


def test_the_lists_name_it(installed):
    assert "outer/6x4/uniform#7/seed=7" in installed("list", "families")
    assert "rank one" in installed("list", "families", "--json")
