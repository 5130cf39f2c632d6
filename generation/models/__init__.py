"""Stage 2a: models, runs, calls, and what was read from the replies."""

from generation.models.calls import Call, Draft
from generation.models.panels import LanguageModel, ModelTrial, ProviderLimit
from generation.models.runs import Run, RunCall
from generation.models.spending import Spending

__all__ = ["Call", "Draft", "LanguageModel", "ModelTrial", "ProviderLimit", "Run", "RunCall", "Spending"]
