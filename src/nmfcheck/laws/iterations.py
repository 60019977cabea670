"""Law 12: limits, tolerances, counts and warnings mean what they say."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..subjects.capabilities import Fit, Handle, Offer
from ..subjects.refusals import RefusedError
from .comparison import fitted, worse
from .law import DRAWS, BrokenError, DoesNotApplyError, Example, Law, Severity, repeatable

MANY = 300
"""Iterations within which a stopping rule is looked at, even if only now and then."""


class IterationCount(Law):
    """The number of iterations is at most the limit, grows with it, and a limit of 1 works.

    From the same start a run with a larger limit passes through the same states, so it stops no
    earlier.
    """

    name = "iteration-count"
    needs = (Offer.LIMIT,)
    usually = "a count that is off by one, or of another loop"

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return two."""
        return [Example(5, 4, 2), Example(8, 6, 3)]

    def try_(self, handle: Handle, example: Example) -> None:
        """Look at the counts for several limits."""
        A, last = example.matrix(), 0
        for limit in (1, 2, 5, 20, 100):
            options = {Offer.LIMIT: limit}
            fit = fitted(handle, A.copy(), example.k, start=example.start(), options=options)
            count = fit.reports.iterations
            if count is None:
                continue
            if not 0 <= count <= limit:
                raise BrokenError(f"with a limit of {limit} it reports {count} iterations")
            if count < last and handle.repeats:
                before = f"{last} with a smaller limit"
                raise BrokenError(
                    f"with a limit of {limit} it reports {count} iterations, {before}"
                )
            last = count


class LimitUsed(Law):
    """The limit to the iterations is used: 1 and 100 have different answers.

    Broken if that is not so for three draws.
    """

    name = "limit-used"
    needs = (Offer.LIMIT,)
    usually = "an option that is accepted and then ignored"

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return one: its three draws belong together."""
        return [Example(8, 6, 3)]

    def try_(self, handle: Handle, example: Example) -> None:
        """Compare bit for bit."""
        repeatable(handle)
        for draw in DRAWS:
            A, start = draw.matrix(), draw.start()
            one, many = (
                fitted(handle, A.copy(), draw.k, start=start, limit=limit) for limit in (1, 100)
            )
            if not np.array_equal(one.product, many.product):
                return
        raise BrokenError(f"{handle.own[Offer.LIMIT]} has no effect: 1 and 100 give the same")


def at_tolerance(handle: Handle, example: Example, *tolerances: float) -> tuple[Fit, float]:
    """Run with the first tolerance that is not refused, and many iterations at most."""
    options: dict[Offer | str, object] = {}
    if Offer.LIMIT in handle.offers:
        options[Offer.LIMIT] = MANY
    for tol in tolerances:
        options[Offer.TOLERANCE] = tol
        try:
            fit = handle.fit(example.matrix(), example.k, start=example.start(), options=options)
            return fit, tol
        except RefusedError as error:
            reason = error
    if not reason.clear:
        raise reason
    raise DoesNotApplyError(f"it refuses a tolerance of {tol:g}: it {reason}")


class ToleranceUsed(Law):
    """The tolerance is used: 10⁶ and 10⁻¹² have different answers, or different counts.

    Every rule is met at once by a tolerance of 10⁶; where that is refused 0.9, 0.1 or 0.01 is
    asked, and 10⁻⁶ where 10⁻¹² is. Broken if three draws show no difference, bit for bit.
    """

    name = "tolerance-used"
    needs = (Offer.TOLERANCE,)
    usually = "a tolerance that is accepted and then ignored, or a rule that cannot be met"

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return one: its three draws belong together."""
        return [Example(8, 6, 3)]

    def try_(self, handle: Handle, example: Example) -> None:
        """Compare bit for bit."""
        repeatable(handle)
        for draw in DRAWS:
            loose, large = at_tolerance(handle, draw, 1e6, 0.9, 0.1, 0.01)
            tight, small = at_tolerance(handle, draw, 1e-12, 1e-6)
            counts = (loose.reports.iterations, tight.reports.iterations)
            if counts[0] != counts[1] or not np.array_equal(loose.product, tight.product):
                return
        name = handle.own[Offer.TOLERANCE]
        raise BrokenError(f"{name} has no effect: {large:g} and {small:g} are alike")


class SmallerTolerance(Law):
    """A smaller tolerance gives no worse answer.

    The objective at 10⁻⁸ is not above that at 10⁻², up to 1e-9 of A's own. A finding: it need not
    hold for methods that are not monotone.
    """

    name = "smaller-tolerance"
    severity = Severity.SHOULD
    needs = (Offer.TOLERANCE,)
    usually = "a stopping rule that is the wrong way round, or a method that is not monotone"
    tolerance = 1e-9

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return three draws."""
        return DRAWS

    def try_(self, handle: Handle, example: Example) -> float:
        """Compare the objectives."""
        repeatable(handle)
        A = example.matrix()
        loose, tight = (at_tolerance(handle, example, tol)[0].product for tol in (1e-2, 1e-8))
        return max(self.within(worse(handle, A, tight, loose), "a smaller tolerance is worse"), 0.0)


class ConvergenceSaid(Law):
    """It warns, or says that it has not converged, if and only if it stopped at its limit.

    Asked of those who report a count or a flag: after 2 iterations of a run that needs more, and
    after a run that ended before its limit. A finding.
    """

    name = "convergence-said"
    severity = Severity.SHOULD
    needs = (Offer.LIMIT, Offer.TOLERANCE)
    usually = "a warning that cannot be reached, or one that always comes"

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return one."""
        return [Example(8, 6, 3)]

    def try_(self, handle: Handle, example: Example) -> None:
        """Look at what is said at the limit, and before it."""
        A = example.matrix()

        def fit(limit: int, tol: float) -> Fit:
            options = {Offer.LIMIT: limit, Offer.TOLERANCE: tol}
            return fitted(handle, A.copy(), example.k, start=example.start(), options=options)

        short, long = fit(2, 1e-10).reports, fit(2000, 1e-2).reports
        if short.iterations is None and short.converged is None:
            raise DoesNotApplyError("it says nothing of its iterations")
        if short.converged or (not short.warned and short.converged is None):
            raise BrokenError("it stops after 2 iterations, and neither warns nor says so")
        ended = long.converged if long.iterations is None else long.iterations < 2000
        if ended and (long.warned or long.converged is False):
            raise BrokenError("it stops before its limit, and says that it has not converged")
