"""Settings for all tests, and the command line for those that need it."""

import os
import signal
import sys
import zlib
from functools import partial

import pytest
from hypothesis import settings

from nmfcheck import cli
from nmfcheck.checking import campaign
from nmfcheck.diagnosis.experiments import perform

# No deadlines: machines are shared, and a slow example is no failure.
settings.register_profile("usual", deadline=None)
settings.register_profile("thorough", deadline=None, max_examples=2000)  # HYPOTHESIS=thorough
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS", "ci" if os.environ.get("CI") else "usual"))


# Begun in the background, as by nohup, tests would inherit that Ctrl-C is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)


ZOOS = ("zoo", "laws_zoo", "laws_right", "census", "experiments", "findings")
"""Tests of many subjects, of which `make test` tries some, and `make test-slow` all others."""

ONE_IN = 5


def pytest_collection_modifyitems(items):
    """Leave all but one in five of the zoos' subjects to the slow tests."""
    for item in items:
        of_many = item.path.stem.removeprefix("test_") in ZOOS and hasattr(item, "callspec")
        if of_many and zlib.crc32(item.name.encode()) % ONE_IN:
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def patient(monkeypatch):
    """Give experiments the time that they need, however busy the machine is."""
    monkeypatch.setattr(campaign, "perform", partial(perform, seconds=60.0))


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    from browser import CHROMIUM

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield chromium
        chromium.close()


@pytest.fixture
def nmfcheck(monkeypatch, capsys, tmp_path):
    """Run the command line in this process; returns exit code, standard output and error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["nmfcheck", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            cli.main()
        captured = capsys.readouterr()
        return exit_.value.code, captured.out, captured.err

    return run
