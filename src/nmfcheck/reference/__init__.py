"""The reference algorithms: in NumPy, to be read, and run on the native engine where it was built.

The paper's three, `multiplicative_update`, `als` and `gradient_descent`, and two more,
`nenmf` and `coordinate_descent`. All take `(A, W0, H0, iterations=…)`, with any leading dimensions
and any shape m×n and rank k, and return `Factorization(W, H, iterations)`. `engine=` chooses
between `native` and `numpy`, `threads=` how many cores the native engine uses.
"""

from .als import als
from .coordinate_descent import coordinate_descent
from .factorization import Algorithm, Factorization
from .gradient_descent import gradient_descent
from .multiplicative_update import multiplicative_update
from .nenmf import nenmf

__all__ = [
    "Algorithm",
    "Factorization",
    "als",
    "coordinate_descent",
    "gradient_descent",
    "multiplicative_update",
    "nenmf",
]
