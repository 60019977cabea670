"""The engines that there are to test here."""

import pytest

from nmfcheck.reference import engine

NATIVE = engine.chosen("auto") == "native"
needs_native = pytest.mark.skipif(not NATIVE, reason="the native engine was not built")


@pytest.fixture(
    autouse=True, scope="module", params=["numpy", pytest.param("native", marks=needs_native)]
)
def each_engine(request):
    """Let ``auto`` mean one engine after the other, for all tests of a module that imports this."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "numpy":
            patch.setattr(engine, "_native", None)
        yield
