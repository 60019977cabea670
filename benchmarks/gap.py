"""The gap around 1e-2: where runs on mixed, noisy and rays end, read off the shipped baselines.

A run is identified if its defects are at most 1e-2. That is a good bound if runs end well below or
well above it. For each family and algorithm this prints how many runs there are, the largest defect
below the bound, the smallest above, and how many lie near it, within a factor of 3.
"""

from nmfcheck.verdict.baseline import shipped

FAMILIES = ("mixed", "noisy", "rays")
BOUND, NEAR = 2.0, 0.5
"""In digits, −log₁₀ of the largest finite defect, as baselines have them."""


def main() -> None:
    for family in FAMILIES:
        for name, algorithm in shipped(family).algorithms.items():
            digits = [
                each
                for cell in algorithm.cells.values()
                for asked in cell.digits.values()
                for each in asked
                if each is not None
            ]
            below = min(each for each in digits if each >= BOUND)
            above = max((each for each in digits if each < BOUND), default=None)
            near = sum(abs(each - BOUND) <= NEAR for each in digits)
            print(
                f"{family}, {name}: {len(digits)} runs; largest defect below 1e-2 is "
                f"1e-{below:.1f}, smallest above is "
                f"{'none' if above is None else f'1e-{above:.1f}'}; {near} within a factor of 3"
            )


if __name__ == "__main__":
    main()
