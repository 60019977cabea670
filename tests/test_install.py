"""Installing with the engine, and where it cannot be built: pure Python, and everything works."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from engines import NATIVE

pytestmark = pytest.mark.slow  # it builds the package anew

ROOT = Path(__file__).parent.parent

FAILS_LATE = """#!/bin/sh
case "$*" in *kernels.cpp*) exit 1;; esac
exec c++ "$@"
"""

USED = """
import numpy as np, nmfcheck
case = nmfcheck.bidiagonal([1, 1], eps=0.25)
start = nmfcheck.Trial.from_id("bidiagonal/n=2/ones/seed=0").start()
found = nmfcheck.reference.coordinate_descent(case.A, *start, 2000)
print(nmfcheck.judge(case, found.W, found.H).outcome)
"""

SHIPPED = """
import json
from importlib import resources
from nmfcheck.verdict.baseline import shipped
print(*(len(shipped(family).algorithms) for family in ("bidiagonal", "inflated")))
schema = resources.files("nmfcheck") / "data" / "report.schema.json"
print(json.loads(schema.read_text())["title"])
"""


@pytest.mark.parametrize("broken", ["no compiler", "a build that fails"])
def test_without_the_engine(broken, tmp_path):
    compiler = tmp_path / "compiler"
    compiler.write_text("#!/bin/sh\nexit 1\n" if broken == "no compiler" else FAILS_LATE)
    compiler.chmod(0o755)
    install = [
        *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
        *("--no-build-isolation", "--no-deps", "--no-index", "--target", str(tmp_path / "site")),
        *("-C", f"build-dir={tmp_path / 'build'}", str(ROOT)),
    ]
    subprocess.run(install, env=os.environ | {"CXX": str(compiler)}, check=True)

    # -S keeps the ordinary install, which may be an editable one, out of the way.
    paths = f"{tmp_path / 'site'}{os.pathsep}{sysconfig.get_path('purelib')}"
    environment = os.environ | {"PYTHONPATH": paths}

    def run(*arguments):
        command = [sys.executable, "-S", *arguments]
        return subprocess.check_output(command, env=environment, text=True, cwd=tmp_path)

    assert "engine: NumPy (the native engine was not built)" in run("-m", "nmfcheck", "--version")
    assert run("-c", USED) == "exact\n"
    assert run("-c", SHIPPED) == "6 6\nA report of nmfcheck, format 2\n"
    few = ("run", "coordinate-descent", "--sizes", "2", "--trials", "60", "--report", "page.html")
    assert "PASS" in run("-m", "nmfcheck", *few)
    assert "<svg" in (tmp_path / "page.html").read_text(encoding="utf-8")
    refused = subprocess.run(
        [sys.executable, "-S", "-c", USED.replace("2000)", "2000, engine='native')")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert "InputError: the native engine was not built" in refused.stderr


@pytest.mark.skipif(shutil.which("c++") is None, reason="no compiler")
def test_with_a_compiler_it_is_built():
    assert NATIVE
