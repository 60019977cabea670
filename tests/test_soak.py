"""A run of some length: memory stays flat, and files are closed again."""

import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).parent.parent / "benchmarks" / "soak.py"


@pytest.mark.slow
@pytest.mark.parametrize("through", ["local", "dask"])
def test_nothing_grows(through):
    found = subprocess.run(
        [sys.executable, str(SOAK), "--stages", "60000", "--through", through],
        capture_output=True, text=True, check=False, timeout=500,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout + found.stderr
