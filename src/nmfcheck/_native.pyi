from collections.abc import Callable

from .arrays import Array, Ints

def run(
    instructions: str,
    algorithm: str,
    A: Array,
    W0: Array,
    H0: Array,
    W: Array,
    H: Array,
    ran: Ints,
    iterations: int,
    close_orbits: bool,
    threads: int,
    progress: Callable[[int], None],
) -> None: ...
def instructions() -> list[str]: ...
def lanes(name: str) -> int: ...
def only_fma(name: str, operations: int) -> float: ...
def only_divide(name: str, operations: int) -> float: ...
