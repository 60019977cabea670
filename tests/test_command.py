"""Programs in any language: the command protocol, kept and broken, and the examples."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from nmfcheck import Command, InputError, run_trial
from nmfcheck.errors import SubjectError
from nmfcheck.executors.local import LocalExecutor
from nmfcheck.executors.protocol import Limits
from nmfcheck.families.bidiagonal.family import trial_of
from nmfcheck.subjects import SubjectName
from nmfcheck.trials.driver import Driver, Plan

EXAMPLES = Path(__file__).parent.parent / "examples"
TRIAL = trial_of(2, "ones", 0)

LOOP = """
import json, os, sys, time
for line in sys.stdin:
    request = json.loads(line)
    A, n = request["A"], len(request["A"])
    first = request["id"] == 0
    identity = [[float(i == j) for j in range(n)] for i in range(n)]
    answer = {"id": request["id"], "W": A, "H": identity}
    BODY
"""
SAY = "print(json.dumps(answer), flush=True)"


@pytest.fixture
def program(tmp_path):
    """Make a program that answers exactly, with other lines in the place of printing the answer."""
    made = []

    def program(body, prelude=""):
        path = tmp_path / f"program{len(made)}.py"
        path.write_text(prelude + LOOP.replace("BODY", body.replace("SAY", SAY)))
        made.append(Command([sys.executable, str(path)]))
        return made[-1]

    yield program
    for command in made:
        command.close()


def test_a_program_that_keeps_to_the_protocol(program):
    result = run_trial(program("SAY"), TRIAL)
    assert [str(stage.outcome) for stage in result.stages] == ["exact", "exact", "exact"]


def test_it_is_started_once_and_warmed_up(program, tmp_path):
    log = tmp_path / "log"
    command = program(f"open({str(log)!r}, 'a').write(f'{{os.getpid()}} {{request}}\\n'); SAY")
    run_trial(command, TRIAL)
    lines = log.read_text().splitlines()
    assert len({line.split()[0] for line in lines}) == 1
    assert len(lines) == 1 + 3


def test_numbers_arrive_bit_by_bit(program, tmp_path):
    log = tmp_path / "log"
    command = program(f"open({str(log)!r}, 'a').write(line); SAY")
    trial = trial_of(3, "loguniform#4", 4)
    run_trial(command, trial)
    request = json.loads(log.read_text().splitlines()[1])
    W0, H0 = trial.start()
    assert request["W0"] == W0.tolist()
    assert request["H0"] == H0.tolist()
    assert request["A"] == trial.case("eps=0").A.tolist()
    assert (request["rank"], request["seed"]) == (3, 4)


@pytest.mark.parametrize(
    ("more", "takes"),
    [("", ("W0", "H0", "seed")), ("answer['takes'] = ['seed']; ", ("seed",)),
     ("answer['takes'] = []; ", ())],
)  # fmt: skip
def test_it_says_what_it_takes(program, more, takes):
    command = program(f"{more}SAY")
    assert run_trial(command, TRIAL).passed
    assert command.takes == takes


def test_a_worker_knows_what_it_takes(program):
    command = program("answer['takes'] = ['seed']; SAY")
    with LocalExecutor(SubjectName(command.name), 1) as executor:
        assert executor.start().takes == ("seed",)


def test_components_of_the_warm_up_differ(program, tmp_path):
    """Were they equal, least squares would have no unique answer."""
    log = tmp_path / "log"
    run_trial(program(f"open({str(log)!r}, 'a').write(line); SAY"), TRIAL)
    request = json.loads(log.read_text().splitlines()[0])
    assert abs(np.linalg.det(request["W0"])) > 0.1
    assert abs(np.linalg.det(request["H0"])) > 0.1


BROKEN = {
    "wrong id": (
        "answer['id'] += 5; SAY",
        "error",
        "answered with another id than that of the request",
    ),
    "no id": ("del answer['id']; SAY", "error", "answered without id"),
    "twice": ("SAY; SAY", "error", "answered more than once"),
    "garbage": ("print('[1] loading'); SAY", "error", "not a JSON object: '[1] loading'"),
    "a number": ("print(3, flush=True)", "error", "wrote a line that is not a JSON object: '3'"),
    "an error": (
        "answer = {'id': request['id'], 'error': 'no\\nluck'}; SAY",
        "error",
        "answered with an error: no luck",
    ),
    "no W": ("del answer['W']; SAY", "error", "answered without W and H"),
    "no numbers": ("answer['W'] = 'none'; SAY", "invalid", "W holds"),
    "ragged": ("answer['W'] = [[1], [2, 3]]; SAY", "invalid", "W is ragged"),
    "null": ("answer['W'] = [[None] * n] * n; SAY", "invalid", "W is nan at row 1"),
    "wrong shape": ("answer['W'] = [[1.0]]; SAY", "invalid", "W has shape (1, 1)"),
    "exits": ("first or sys.exit(7); SAY", "crashed", "the program ended with exit code 7"),
    "exits at once": ("sys.exit(7)", "crashed", "the program ended with exit code 7"),
    "killed": ("first or os.kill(os.getpid(), 9); SAY", "crashed", "was ended by SIGKILL"),
    "closes its output": (
        "first or (os.close(1), time.sleep(60)); SAY",
        "crashed",
        "closed its output without an answer",
    ),
    "closes its input": (
        "os.close(0); SAY; time.sleep(60)",
        "crashed",
        "closed its output without an answer",
    ),
    "strings": ("answer['W'] = ['10', '01']; SAY", "invalid", "W "),
    "a huge number": ("answer['W'] = [[10**400] * n] * n; SAY", "invalid", "W "),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_what_breaks_the_protocol(program, kind):
    body, outcome, said = BROKEN[kind]
    result = run_trial(program(body), TRIAL)
    assert result.stages[0].outcome == outcome
    assert said in result.stages[0].message


def test_a_second_answer_costs_its_own_stage(program):
    """And not the next one, which may be anybody's."""
    result = run_trial(program("SAY; A[0][1] != 1e-3 or SAY"), TRIAL)
    assert [str(stage.outcome) for stage in result.stages] == ["exact", "error", "exact"]


def test_only_the_stderr_of_the_stage_is_kept(program):
    command = program(
        "print('request', request['id'], file=sys.stderr, flush=True); "
        "answer = {'id': request['id'], 'error': 'no'}; SAY"
    )
    assert [stage.output for stage in run_trial(command, TRIAL).stages] == [
        "request 1",
        "request 2",
    ]


@pytest.mark.slow
def test_starting_takes_no_stages_time(tmp_path):
    """Nor does starting again, after the protocol was broken."""
    path = tmp_path / "slow.py"
    path.write_text("import time; time.sleep(1.5)\n" + LOOP.replace("BODY", (
        "A[0][1] == 0 and not first and os._exit(3); " + SAY
    )))  # fmt: skip
    command = Command([sys.executable, str(path)])
    with LocalExecutor(SubjectName(command.name), 1, Limits(timeout=1.0)) as workers:
        plans = [Plan([trial_of(2, "ones", 0), trial_of(2, "ones", 1)])]
        stages = [stage for part in Driver(workers, plans) for stage in part]
    assert [str(stage.outcome) for stage in stages] == ["crashed", "exact", "crashed", "exact"]


def test_a_program_that_does_not_start(tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("import sys; sys.exit('no licence')")
    expected = pytest.raises(SubjectError, match="exit code 1; it printed: no licence")
    with LocalExecutor(SubjectName(f"cmd:{sys.executable} {path}"), 1) as workers, expected:
        workers.start()


def test_a_program_that_breaks_once_is_started_again(program, tmp_path):
    seen = tmp_path / "seen"
    command = program(
        f"first or os.path.exists({str(seen)!r}) or (open({str(seen)!r}, 'w'), os.abort()); SAY"
    )
    result = run_trial(command, TRIAL)
    assert [str(stage.outcome) for stage in result.stages] == ["crashed", "exact"]


def test_the_last_words_of_a_program_that_dies(program):
    command = program(
        "first or (print('x' * 5000, 'out of luck', file=sys.stderr), sys.exit(3)); SAY"
    )
    stage = run_trial(command, TRIAL).stages[0]
    assert stage.output.endswith("out of luck")
    assert len(stage.output) <= 1000


@pytest.mark.slow
def test_a_program_that_never_answers_is_ended(program, tmp_path):
    pid = tmp_path / "pid"
    command = program(
        f"open({str(pid)!r}, 'a').write(f'{{os.getpid()}}\\n'); first or time.sleep(60); SAY"
    )
    with LocalExecutor(SubjectName(command.name), 1, Limits(timeout=2.0)) as workers:
        stages = [stage for part in Driver(workers, [Plan([TRIAL])]) for stage in part]
    assert [str(stage.outcome) for stage in stages] == ["timeout", "timeout"]
    pids = set(pid.read_text().split())
    assert len(pids) == 2
    until = time.monotonic() + 5
    while any(psutil.pid_exists(int(each)) for each in pids):
        assert time.monotonic() < until
        time.sleep(0.05)


def test_the_end_of_its_input_ends_it(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(LOOP.replace("BODY", SAY))
    ended = subprocess.run([sys.executable, str(path)], input="", text=True, timeout=20, check=True)
    assert ended.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("Rscript nmf.R", "a command is a list such as"),
        ([], "a command is a list such as"),
        (["no-such-program", "x"], "there is no program 'no-such-program'"),
    ],
)
def test_no_command(arguments, said):
    with pytest.raises(InputError) as caught:
        Command(arguments)
    assert said in str(caught.value)


def test_no_shell_is_involved(program, tmp_path):
    """Were there one, it would run what stands in the argument."""
    path = tmp_path / "program.py"
    path.write_text(LOOP.replace("BODY", SAY))
    argument = f"$(touch {tmp_path / 'oops'}); touch {tmp_path / 'oops'}"
    command = Command([sys.executable, str(path), argument])
    assert run_trial(command, TRIAL).passed
    command.close()
    assert not (tmp_path / "oops").exists()


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """Compile the C++ example, if there are a compiler and the JSON library."""
    program = tmp_path_factory.mktemp("examples") / "nmf"
    compiler = shutil.which("c++")
    command = [compiler, "-std=c++20", "-O2", "-o", str(program), str(EXAMPLES / "nmf.cpp")]
    if compiler is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no compiler or no nlohmann/json: apt-get install g++ nlohmann-json3-dev")
    return str(program)


RUNTIMES = {
    "nmf.R": ("Rscript", [], "r-base-core r-cran-jsonlite"),
    "nmf.m": ("octave-cli", ["-q"], "octave"),
    "nmf.jl": ("julia", [], "julia, which Debian does not have at present"),
}


@pytest.mark.slow
@pytest.mark.parametrize("example", ["nmf.py", "nmf.cpp", *RUNTIMES])
def test_examples(example, request):
    if example == "nmf.py":
        arguments = [sys.executable, str(EXAMPLES / example)]
    elif example == "nmf.cpp":
        arguments = [request.getfixturevalue("compiled")]
    else:
        program, options, packages = RUNTIMES[example]
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not there: apt-get install {packages}")
        arguments = [program, *options, str(EXAMPLES / example)]
    command = Command(arguments)
    try:
        for trial in (trial_of(2, "ones", 0), trial_of(3, "loguniform#1", 1)):
            result = run_trial(command, trial)
            assert result.exact, [stage.message for stage in result.stages]
    finally:
        command.close()


def test_all_examples_are_tested():
    tested = {"nmf.py", "nmf.cpp", *RUNTIMES}
    assert {path.name for path in EXAMPLES.iterdir() if path.name.startswith("nmf.")} == tested


def test_the_python_example_and_the_reference_agree():
    """The example is coordinate descent; so is the reference."""
    from nmfcheck import reference

    trial = trial_of(3, "ones", 2)
    W0, H0 = trial.start()
    found = reference.coordinate_descent(trial.case("eps=0.25").A, W0, H0, 2000)
    command = Command([sys.executable, str(EXAMPLES / "nmf.py")])
    from nmfcheck.subjects import Problem

    answer = command.answer(Problem(trial.case("eps=0.25").A, 3, W0, H0, 2))
    command.close()
    np.testing.assert_allclose(answer.W, found.W, atol=1e-9)
    np.testing.assert_allclose(answer.H, found.H, atol=1e-9)


def test_pythons_environment_is_handed_on(program, monkeypatch):
    monkeypatch.setenv("NMF_SETTING", "7")
    command = program("assert os.environ['NMF_SETTING'] == '7'; SAY")
    assert run_trial(command, TRIAL).passed
    assert os.environ["NMF_SETTING"] == "7"
