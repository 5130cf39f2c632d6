"""The one door to models. Nothing else imports LiteLLM, and it is imported when the first request leaves, never before.

`complete` makes exactly one HTTP request or none: no retry, no redirect, no callback. It ends within the request's own
deadline. It returns a `Reply`, whatever the reply is worth (generation.replies reads it), or raises a `Failure` from
the table of `failures`. A failure carries our own words and the provider's status: what a provider writes may repeat
the key and the prompt, so it is looked at here and then forgotten.
"""

from generation.llm.access import COMPATIBLE_PROVIDERS, DEMO, KNOWN_PROVIDERS, address_fault, is_key_variable
from generation.llm.door import complete, load
from generation.llm.failures import Failure, FailureKind, Fate
from generation.llm.reading import rough_tokens
from generation.llm.terms import Reply, Request, Usage, provider_of
from generation.llm.wire import session

__all__ = [
    "COMPATIBLE_PROVIDERS",
    "DEMO",
    "KNOWN_PROVIDERS",
    "Failure",
    "FailureKind",
    "Fate",
    "Reply",
    "Request",
    "Usage",
    "address_fault",
    "complete",
    "is_key_variable",
    "load",
    "provider_of",
    "rough_tokens",
    "session",
]
