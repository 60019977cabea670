"""Cases: the paper's matrix (13), its ids, its random entries; ids of all families."""

import copy
import hashlib
import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmfcheck import Case, InputError, Trial, bidiagonal, families
from nmfcheck.families.bidiagonal.cases import case_of, decimal, draw
from strategies import cases


def test_the_papers_matrix():
    case = bidiagonal([1, 2, 3], [4, 5], eps=0.5)
    assert case.A.tolist() == [[1, 2, 0], [0, 2, 2.5], [0, 0, 3]]
    assert (case.n, case.rank, case.family) == (3, 3, "bidiagonal")
    assert case.e.tolist() == [2, 2.5]


def test_a1_is_ones_unless_given():
    assert bidiagonal([2, 3], eps=0.1).a1.tolist() == [1]


def test_a_1x1_matrix_is_allowed():
    case = bidiagonal([2.0], eps=0.5)
    assert case.A.tolist() == [[2.0]]
    assert Case.from_id(case.id) == case


def test_a_case_is_immutable():
    case = bidiagonal([1, 1], eps=0.1)
    for array in (case.A, case.a0, case.a1):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5.0
    with pytest.raises(AttributeError):
        case.eps = 3.0


def test_the_caller_keeps_its_own_arrays():
    a0 = np.array([1.0, 2.0])
    case = bidiagonal(a0)
    a0[0] = 7.0
    assert case.a0[0] == 1.0


@pytest.mark.parametrize(
    ("case", "id"),
    [
        (bidiagonal([1, 1, 1], [1, 1], 1e-3), "bidiagonal/n=3/ones/eps=1e-3"),
        (bidiagonal([1, 1], eps=0), "bidiagonal/n=2/ones/eps=0"),
        (bidiagonal([1, 2], [0.5], 0.25), "bidiagonal/n=2/a0=1,2/a1=0.5/eps=0.25"),
        (case_of(3, "loguniform#7", 1e-5), "bidiagonal/n=3/loguniform#7/eps=1e-5"),
        (bidiagonal([1]), "bidiagonal/n=1/ones/eps=0"),
        (bidiagonal([2]), "bidiagonal/n=1/a0=2/a1=/eps=0"),
    ],
)
def test_ids_are_stable(case, id):
    assert case.id == id
    assert Case.from_id(id) == case


@given(cases())
def test_ids_round_trip(case):
    again = Case.from_id(case.id)
    assert again == case
    assert hash(again) == hash(case)
    assert again.A.tobytes() == case.A.tobytes()
    assert again.eps == case.eps


@given(st.integers(1, 8), st.integers(0, 10**6), st.sampled_from([0.0, 1e-3, 0.25]))
def test_ids_of_random_draws_round_trip(n, i, eps):
    case = case_of(n, f"loguniform#{i}", eps)
    again = Case.from_id(case.id)
    assert again == case
    assert again.A.tobytes() == case.A.tobytes()


@pytest.mark.parametrize("again", [copy.deepcopy, lambda case: pickle.loads(pickle.dumps(case))])
def test_copies_are_equal_and_immutable_too(again):
    case = bidiagonal([1, 2], eps=0.1)
    assert again(case) == case
    assert not again(case).A.flags.writeable


@given(st.floats(min_value=0, allow_infinity=False))
def test_decimals_read_back_as_the_same_number(x):
    assert float(decimal(x)) == x


def test_decimals_are_short():
    numbers = (0.0, 1.0, 0.25, 0.001, 1e-5, 1.5e300, 0.1, 12.0)
    assert [decimal(x) for x in numbers] == [
        "0", "1", "0.25", "1e-3", "1e-5", "1.5e300", "0.1", "12",
    ]  # fmt: skip


@given(st.integers(1, 20), st.integers(0, 1000))
def test_draws_are_of_order_one_and_short(n, i):
    a0, a1 = draw(n, i)
    assert (len(a0), len(a1)) == (n, n - 1)
    for x in (*a0, *a1):
        assert 0.5 <= x <= 2
        assert len(decimal(x)) <= 8


def test_draws_are_log_uniform():
    logs = np.log2(np.concatenate([draw(20, i)[0] for i in range(200)]))
    # The mean of 4000 uniform numbers in (−1, 1) has a standard deviation of 0.009.
    assert abs(logs.mean()) < 0.04
    assert abs((logs**2).mean() - 1 / 3) < 0.03


def test_draws_never_change():
    assert [x.tolist() for x in draw(3, 7)] == [[0.774719, 0.59883, 0.703877], [0.769582, 1.290798]]
    everything = b"".join(x.tobytes() for n in range(1, 9) for i in range(50) for x in draw(n, i))
    digest = hashlib.sha256(everything).hexdigest()
    assert digest == "ef58fe93afc70c6ac9153f52839cfed1cffcc965f85f3393e4b895dc9c568f47"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([],), "a0 is empty"),
        (([1, 0],), r"a0\(2\) is 0; every entry must be positive"),
        (([1, -2],), r"a0\(2\) is -2"),
        (([1, np.nan],), "a0 must be finite, but holds nan"),
        (([1, np.inf],), "a0 must be finite, but holds inf"),
        (([[1, 2]],), "a0 must be a vector"),
        ((["x", "y"],), "a0 must hold real numbers"),
        (([1j, 2],), "a0 must hold real numbers, not complex"),
        (([1, 2], [1, 2]), "a1 has 2 entries; with 2 in a0 it needs 1"),
        (([1, 2], [0.0]), r"a1\(1\) is 0"),
        (([1, 2], [1], -0.1), "eps is -0.1; it must be at least 0"),
        (([1, 2], [1], np.nan), "eps must be finite"),
        (([1, 2], [1e300], 1e300), "leaves the range of double precision"),
    ],
)
def test_bad_entries_get_one_clear_line(arguments, said):
    with pytest.raises(InputError, match=said) as caught:
        bidiagonal(*arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "id",
    [
        "", "nonsense", "bidiagonal/n=3", "bidiagonal/n=0/ones/eps=0", "bidiagonal/n=3/twos/eps=0",
        "bidiagonal/n=3/ones/eps=x", "bidiagonal/n=3/ones/eps=-1", "bidiagonal/n=3/ones/eps=nan",
        "bidiagonal/n=3/a0=1,2/a1=1/eps=0", "bidiagonal/n=2/a0=1,2/a1=/eps=0",
        "bidiagonal/n=2/a0=1,x/a1=1/eps=0", "bidiagonal/n=3/loguniform#-1/eps=0",
        "bidiagonal/n=99999/ones/eps=0",
        "inflated", "inflated/9x6", "inflated/9x6/k=3/dyadic/eps=0",
        "inflated/9x6/k=3/dyadic#-7/eps=0", "inflated/9x6/k=7/dyadic#7/eps=0",
        "inflated/9x6/k=3/ones#7/eps=0", "inflated/9x6/k=3/dyadic#7/eps=x",
        "inflated/09x6/k=3/dyadic#7/eps=0", "inflated/3x3/k=3/zeros#7/eps=0",
    ],
)  # fmt: skip
def test_bad_ids_get_one_clear_line(id):
    with pytest.raises(InputError) as caught:
        Case.from_id(id)
    assert "\n" not in str(caught.value)


INFLATED = "inflated/9x6/k=3/dyadic#7/eps=0.25"


def test_the_id_of_any_family_gives_the_case_back():
    case = Case.from_id(INFLATED)
    assert (case.id, case.family, case.m, case.n, case.rank) == (INFLATED, "inflated", 9, 6, 3)
    for again in (Case.from_id(case.id), copy.deepcopy(case), pickle.loads(pickle.dumps(case))):
        assert again == case
        assert again.A.tobytes() == case.A.tobytes()
        assert not again.A.flags.writeable
    trial = Trial.from_id("inflated/9x6/k=3/dyadic#7/seed=5")
    assert trial.id == "inflated/9x6/k=3/dyadic#7/seed=5"
    assert trial.case("eps=0.25") == case


@pytest.mark.parametrize("id", ["inflated", "inflated/9x6", "inflated/9x6/k=3/dyadic/eps=0"])
def test_a_bad_id_of_a_case_is_not_called_one_of_a_trial(id):
    with pytest.raises(InputError, match=f"^no case '{re.escape(id)}'; expected an id") as caught:
        Case.from_id(id)
    assert "trial" not in str(caught.value)
    assert "seed" not in str(caught.value)


@pytest.mark.parametrize(
    ("trial", "case"),
    [
        ("mixed/12x10/k=4/dyadic#7/seed=5", "mixed/12x10/k=4/dyadic#7/eps=0"),
        ("mixed/12x10/k=4/dyadic#7/seed=5/start=warm", "mixed/12x10/k=4/dyadic#7/eps=0"),
        (
            "mixed/12x10/k=4/dyadic#7/seed=5/start=warm/loss=kl",
            "mixed/12x10/k=4/dyadic#7/eps=0/loss=kl",
        ),
        ("noisy/6x5/k=2/dyadic#7/seed=5", "noisy/6x5/k=2/dyadic#7/eps=0"),
        ("rays/k=4/alpha=0.25/extra=0x3/dyadic#7/seed=5", "rays/k=4/alpha=0.25/extra=0x3/dyadic#7"),
        ("rank-one/4x3/one/seed=5", "rank-one/4x3/one/beta=2"),
        ("rank-one/9x6/dyadic#7/seed=5/loss=kl", "rank-one/9x6/dyadic#7/beta=1/loss=kl"),
        ("optima/hexagon/k=2/shuffled#7/seed=5", "optima/hexagon/k=2/shuffled#7/residual"),
    ],
)
def test_a_trial_with_one_ask_names_its_case(trial, case):
    assert Case.from_id(trial).id == case
    assert Case.from_id(trial) == Case.from_id(case)
    assert Case.from_id(trial).objective == Case.from_id(case).objective


@pytest.mark.parametrize(
    ("trial", "drawn", "loss"),
    [
        ("bidiagonal/n=3/loguniform#7/seed=5", "bidiagonal/n=3/loguniform#7", ""),
        ("inflated/9x6/k=3/dyadic#7/seed=5", "inflated/9x6/k=3/dyadic#7", ""),
        ("inflated/9x6/k=3/dyadic#7/seed=5/loss=kl", "inflated/9x6/k=3/dyadic#7", "/loss=kl"),
    ],
)
def test_a_trial_with_several_asks_says_which_cases_it_has(trial, drawn, loss):
    with pytest.raises(InputError) as caught:
        Case.from_id(trial)
    ids = [f"{drawn}/eps={eps}{loss}" for eps in ("0", "1e-3", "0.25")]
    assert str(caught.value) == f"{trial!r} is a trial of 3 cases; its cases are {', '.join(ids)}"
    assert [Case.from_id(id).id for id in ids] == ids


@pytest.mark.parametrize(
    "id",
    [
        "bidiagonal/n=1001/ones/eps=0", "bidiagonal/n=9999/loguniform#7/eps=0.25",
        "inflated/9999x101/k=3/dyadic#7/eps=0", "mixed/9999x9999/k=2/dyadic#7/eps=0",
        "noisy/1001x1000/k=2/dyadic#7/eps=0", "rays/k=33/alpha=0.25/extra=0x0/dyadic#7",
        "rays/k=3/alpha=0.25/extra=999x999/dyadic#7", "rank-one/9999x9999/dyadic#7/beta=2",
        "rank-one/9999x9999/one/seed=7", "bidiagonal/n=1001/ones/seed=7",
    ],
)  # fmt: skip
def test_a_matrix_that_is_too_large_is_refused_before_it_is_made(id):
    with pytest.raises(
        InputError, match=r"^a \d+×\d+ matrix is too large; expected at most 1000000"
    ):
        Case.from_id(id)


def test_a_case_of_its_own_entries_is_no_larger_than_its_id_can_say():
    with pytest.raises(InputError, match="a 1001×1001 matrix is too large"):
        bidiagonal(np.ones(1001))


@pytest.mark.parametrize("kind", [Case, Trial])
@pytest.mark.parametrize(
    "id",
    [
        "",
        "nonsense",
        "tridiagonal/n=3/ones/eps=0",
        "Bidiagonal/n=3/ones/seed=0",
        "/",
        "a\nb/c",
        None,
        7,
    ],
)
def test_an_unknown_family_gets_one_clear_line(kind, id):
    with pytest.raises(InputError) as caught:
        kind.from_id(id)
    said = str(caught.value)
    assert said.startswith(f"no {kind.__name__.lower()} {id!r}; it begins with a family ")
    assert f"({', '.join(families.names())})" in said
    assert "\n" not in said
    example = re.search(r"as in '(.*)'$", said)[1]
    assert kind.from_id(example).id == example
