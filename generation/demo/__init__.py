"""Fifteen simulated models that read the documents they are sent. For demonstrations and tests only.

They work offline and see what a real model would see, the messages and nothing else: language, task, document and
question are read out of the prompt text. Whatever they reply is made from the document. They are deterministic in
model, messages and seed. Nothing here imports anything but the standard library and this package.
"""

from generation.demo.models import NAMES, DemoReply, UnknownDemoModelError, answer
from generation.demo.parts import StandardParts, standardized_parts

__all__ = ["NAMES", "DemoReply", "StandardParts", "UnknownDemoModelError", "answer", "standardized_parts"]
