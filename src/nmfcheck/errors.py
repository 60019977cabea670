"""The exceptions that nmfcheck raises on purpose."""


class InputError(ValueError):
    """Input that nmfcheck cannot use; its message is one line, written for the user.

    It names the value and says what was expected. The command line prints it and exits with 2.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class SubjectError(InputError):
    """A subject that cannot be run at all. The command line prints it and exits with 4."""


class ConformanceError(AssertionError):
    """A subject that does not conform; its message has the verdict, the findings and the failures.

    `Report.raise_for_failure` raises it.
    """
