"""The package itself: its names, its imports, its files."""

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import nmfcheck

ROOT = Path(__file__).parent.parent


def test_the_public_names():
    promised = {
        "Case", "Command", "Judgement", "Outcome", "Trial", "bidiagonal", "exact_factorization",
        "judge", "judge_batch", "nearest_exact", "reference", "run_trial", "suites",
    }  # fmt: skip
    needed_to_annotate = {"InputError", "Judgements", "NearestExact", "TrialResult"}
    assert set(nmfcheck.__all__) == promised | needed_to_annotate
    for name in nmfcheck.__all__:
        assert getattr(nmfcheck, name) is not None


def test_the_version_is_the_distributions():
    assert nmfcheck.__version__ == version("nmfcheck")


def test_importing_is_cheap():
    """No SciPy, no rich, no click behind `import nmfcheck`."""
    code = "import nmfcheck, sys; print(sorted({'scipy', 'rich', 'click'} & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


def modules():
    found = pkgutil.walk_packages(nmfcheck.__path__, "nmfcheck.")
    return [m.name for m in found if m.name != "nmfcheck.__main__"]


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    module = sys.modules[name]
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    "page", ["README.md", *(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/*.md"))]
)
def test_links_in_the_docs_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"


def test_examples_in_the_readme():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert blocks
    for block in blocks:
        parser = doctest.DocTestParser()
        test = parser.get_doctest(block, {}, "README.md", "README.md", 0)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        runner.run(test)
        assert runner.summarize().failed == 0
