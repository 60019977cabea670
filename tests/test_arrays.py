"""Batches of matrices, however those lie in memory."""

import numpy as np
import pytest

from nmfcheck.arrays import copies, frozen, stacked


def laid_out(how: str) -> list[np.ndarray]:
    """Return three matrices of one shape, the last of them laid out in some way."""
    matrices = [np.random.default_rng(seed).random((3, 2)) for seed in range(3)]
    last = matrices[-1]
    others = {
        "by rows": last,
        "by columns": np.asfortranarray(last),
        "read-only": frozen(last),
        "every other row": np.repeat(last, 2, axis=0)[::2],
        "transposed": last.T.copy().T,
    }
    return [*matrices[:-1], others[how]]


@pytest.mark.parametrize(
    "how", ["by rows", "by columns", "read-only", "every other row", "transposed"]
)
def test_a_stack_is_that_of_numpy_and_a_copy(how):
    matrices = laid_out(how)
    before = [matrix.copy() for matrix in matrices]
    stack = stacked(matrices)
    assert stack.shape == (3, 3, 2) and stack.dtype == np.float64
    assert stack.tobytes() == np.stack(matrices).tobytes()
    stack[:] = -1.0
    assert all(np.array_equal(*pair) for pair in zip(matrices, before, strict=True))


def test_what_is_no_float64_or_of_another_size_is_not_taken_for_it():
    matrix = np.ones((3, 2))
    for other in (np.ones((3, 2), np.float32), np.ones((3, 1)), np.ones((4, 2))):
        with pytest.raises(ValueError, match="reshape"):
            stacked([matrix, other])


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (3, 5), (4, 2)])
def test_copies_are_equal_and_share_nothing(shape):
    matrices = [np.random.default_rng(i).random(shape) for i in range(5)]
    matrices[2].setflags(write=False)
    made = copies(matrices)
    for one, other in zip(made, matrices, strict=True):
        assert np.array_equal(one, other)
        assert one.flags.c_contiguous and one.flags.writeable
        assert one.ctypes.data % 16 == 0
    for i, matrix in enumerate(made):
        matrix[:] = -i
    assert [set(matrix.ravel()) for matrix in made] == [{-float(i)} for i in range(5)]
    assert all((matrix > 0).all() for matrix in matrices)


def test_copies_of_what_lies_column_by_column():
    matrices = [np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.ones((2, 3))]
    made = copies(matrices)
    assert all(np.array_equal(one, other) for one, other in zip(made, matrices, strict=True))
    assert not any(np.shares_memory(one, other) for one, other in zip(made, matrices, strict=True))
