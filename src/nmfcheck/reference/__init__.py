"""The reference algorithms: in NumPy, to be read, and run on the native engine where it was built.

For the Frobenius norm the paper's three, `multiplicative_update`, `als` and `gradient_descent`, and
three more, `nenmf`, `coordinate_descent` and `anls`; for the Kullback–Leibler divergence
`kl_multiplicative_update` and `kl_scalar_newton`; for any β-divergence what
`beta_multiplicative_update("beta=0.5")` returns. All take `(A, W0, H0, iterations=…)`, with any
leading dimensions and any shape m×n and rank k, and return `Factorization(W, H, iterations)`.
`engine=` chooses between `native` and `numpy`, `threads=` how many cores the native engine uses.
"""

from .als import als
from .anls import anls
from .beta_multiplicative_update import beta_multiplicative_update
from .coordinate_descent import coordinate_descent
from .factorization import Algorithm, Factorization
from .gradient_descent import gradient_descent
from .kl_multiplicative_update import kl_multiplicative_update
from .kl_scalar_newton import kl_scalar_newton
from .multiplicative_update import multiplicative_update
from .nenmf import nenmf

__all__ = [
    "Algorithm",
    "Factorization",
    "als",
    "anls",
    "beta_multiplicative_update",
    "coordinate_descent",
    "gradient_descent",
    "kl_multiplicative_update",
    "kl_scalar_newton",
    "multiplicative_update",
    "nenmf",
]
