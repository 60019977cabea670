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
        "Case", "Command", "Family", "Judgement", "Outcome", "Trial", "bidiagonal", "check",
        "exact_factorization", "judge", "judge_batch", "nearest_exact", "reference", "run_trial",
        "suites",
    }  # fmt: skip
    needed_to_annotate = {
        "ConformanceError", "InputError", "Judgements", "NearestExact", "Report", "Stage",
        "TrialResult",
    }  # fmt: skip
    assert set(nmfcheck.__all__) == promised | needed_to_annotate
    for name in nmfcheck.__all__:
        assert getattr(nmfcheck, name) is not None


def test_the_version_is_the_distributions():
    assert nmfcheck.__version__ == version("nmfcheck")


LATE = ("scipy", "rich", "click", "matplotlib", "jinja2")
"""What takes long to import."""


def loaded(code, *, cwd=None):
    """Run code in another process; return which of these it has loaded, and what it printed."""
    told = f"print('loaded', *({set(LATE)} & sys.modules.keys()))"
    result = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\n{told}"],
        capture_output=True, text=True, check=True, cwd=cwd,
    )  # fmt: skip
    *before, last = result.stdout.splitlines()
    return set(last.split()[1:]), before


def test_importing_is_cheap():
    """No SciPy, no rich, no click, and nothing that draws, behind `import nmfcheck`."""
    assert loaded("import nmfcheck")[0] == set()


DRAWING = {"matplotlib", "jinja2"}


def test_a_run_without_a_page_draws_nothing(tmp_path):
    code = """
from nmfcheck import cli
sys.argv = ["nmfcheck", "run", "als", "--sizes", "2,3", "--trials", "2", *{files}]
try:
    cli.main()
except SystemExit as end:
    print("exit", end.code)
"""
    found, out = loaded(code.format(files=("--junit", "a.xml", "--json", "a.json")), cwd=tmp_path)
    assert out[-1] == "exit 3"
    assert not found & DRAWING
    found, out = loaded(code.format(files=("--report", "a.html")), cwd=tmp_path)
    assert out[-1] == "exit 3"
    assert found >= DRAWING


@pytest.mark.slow
def test_a_check_draws_nothing_until_it_is_asked_to(tmp_path):
    code = """
import nmfcheck
report = nmfcheck.check("coordinate-descent", sizes=[2, 3], trials=2)
assert str(report)
assert report.table()
assert report._repr_html_()
assert report.to_json()
report.to_junit("a.xml")
"""
    found, _ = loaded(code, cwd=tmp_path)
    assert not found & DRAWING
    found, _ = loaded(f"{code}report.to_html('a.html')", cwd=tmp_path)
    assert found >= DRAWING


def modules():
    found = pkgutil.walk_packages(nmfcheck.__path__, "nmfcheck.")
    return [m.name for m in found if m.name != "nmfcheck.__main__"]


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    module = sys.modules[name]
    assert doctest.testmod(module).failed == 0


PAGES = ["README.md", *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/*.md"))]


@pytest.mark.parametrize("page", PAGES)
def test_links_in_the_docs_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"


def prose(text):
    """Yield lines with their numbers, without code blocks, tables and lines that are one link."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        fence = line.lstrip().startswith("```")
        in_code ^= fence
        link = re.fullmatch(r"\s*(- |\d+\. )?!?\[[^]]*\]\([^)]*\)[.,;:]?", line)
        if not (in_code or fence or link or line.lstrip().startswith("|")):
            yield number, line


@pytest.mark.parametrize(
    "page", [*PAGES, "CHANGELOG.md", "CONTRIBUTING.md", "benchmarks/README.md"]
)
def test_prose_is_wrapped_at_100_characters(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    long = [f"{page}:{n}: {line}" for n, line in prose(text) if len(line) > 100]
    assert not long, "\n".join(long)


def test_what_counts_as_prose():
    link = f"- [a page](https://example.org/{100 * 'x'})"
    text = f"one\n```\ncode\n```\n| a | b |\n{link}\n{link} and more\n\nlast"
    assert list(prose(text)) == [(1, "one"), (7, f"{link} and more"), (8, ""), (9, "last")]


def test_examples_in_the_readme():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert blocks
    for block in blocks:
        parser = doctest.DocTestParser()
        test = parser.get_doctest(block, {}, "README.md", "README.md", 0)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        runner.run(test)
        assert runner.summarize().failed == 0
