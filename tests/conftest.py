"""Settings for all tests."""

import os

from hypothesis import settings

# No deadlines: machines are shared, and a slow example is no failure.
settings.register_profile("usual", deadline=None)
settings.register_profile("thorough", deadline=None, max_examples=2000)  # HYPOTHESIS=thorough
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS", "ci" if os.environ.get("CI") else "usual"))
