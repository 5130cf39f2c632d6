"""Property tests are not timed one by one: a busy machine is no failure."""

from hypothesis import settings

settings.register_profile("benchmark", deadline=None)
settings.load_profile("benchmark")
