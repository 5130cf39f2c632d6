"""What a lead can do about a call or a trial that has no answer: one sentence for each kind of trouble."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from generation.workflow import Trouble

ADVICE: Mapping[str, str | Promise] = {
    Trouble.RATE_LIMITED: _("Lower this provider's limits on the models page, then send again."),
    Trouble.SERVER_ERROR: _("Look at the provider's status page; send again later."),
    Trouble.REFUSED_CONNECTION: _("See that the server runs and that the worker can reach its address."),
    Trouble.GATEWAY_PAGE: _("Something stands between the worker and the model: look at the address."),
    Trouble.DEADLINE: _("Look at the provider's own log before you send it again."),
    Trouble.CONNECTION_LOST: _("Look at the provider's own log before you send it again."),
    Trouble.UNEXPECTED: _("Look at the provider's own log before you send it again."),
    Trouble.WORKER_LOST: _("Look at the provider's own log before you send it again."),
    Trouble.CONTEXT: _("Lower the length above which input is cut for this model, then send again."),
    Trouble.BAD_REQUEST: _("Compare temperature, output limits and structured output with what the model takes."),
    Trouble.REFUSED: _("The same text will be declined again: use another model, or leave it."),
    Trouble.NO_CREDIT: _("Top up the account, then resume the model."),
    Trouble.NOT_FOUND: _("Correct the id or the address on the model's page."),
    Trouble.REDIRECTED: _("Give the address it redirects to, if you trust it."),
    Trouble.UNREADABLE: _("See that the address is one of an OpenAI-compatible server, such as https://host/v1."),
    Trouble.NOT_SENT: _("Correct the id, the address or the variable of the key on the model's page."),
    Trouble.MODEL_PAUSED: _("Resume the model, then send again."),
    Trouble.BUDGET: _("Raise the budget, then send again."),
    Trouble.DOCUMENT_NOT_APPROVED: _("Have the document cleared, then send again."),
    Trouble.EMPTY: _("Send again; if it stays empty, raise the output limit."),
    Trouble.NO_ANSWER_BUDGET: _("Raise the output limit with thinking, then send again."),
    Trouble.TRUNCATED: _("Raise the output limit, then send again."),
}


def advice(error_class: str, key_variable: str = "") -> str:
    """Empty where there is nothing better to do than to send again."""
    if error_class == Trouble.AUTH:
        words = _now("Set %(name)s in the worker's environment, restart the worker, then resume the model.")
        return words % {"name": key_variable} if key_variable else _now("Name the variable that holds the key.")
    return str(ADVICE.get(error_class, ""))
