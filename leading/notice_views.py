"""The bell of the bar, and the page it leads to."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from core.models import User
from core.viewing import person_of
from leading import actions, notifying

STOP_ASKING = 286  # htmx's own: the part asks no more


@require_GET
def notifications(request: HttpRequest) -> HttpResponse:
    notices = notifying.notices_for(person_of(request))
    context = {
        "section": "notifications",
        "notices": notices,
        "new": sum(notice.is_new for notice in notices),
        "up_to": max((notice.number for notice in notices), default=0),
        "limit": notifying.SHOWN,
    }
    return render(request, "leading/notifications.html", context)


@login_not_required
@require_GET
def notification_count(request: HttpRequest) -> HttpResponse:
    """The number at the bell, asked for by the page itself. Whose log-in has ended is not led away from what they are
    typing: the part only stops asking."""
    if not isinstance(request.user, User):
        return HttpResponse(status=STOP_ASKING)
    count = notifying.count_for(request.user)
    context = {"count": count, "most": notifying.MOST_COUNTED}
    return render(request, "leading/notification_count.html", context)


@require_POST
def notifications_seen(request: HttpRequest) -> HttpResponse:
    given = request.POST.get("up_to", "")
    actions.mark_seen(up_to=int(given) if given.isdecimal() and len(given) < 19 else 0, by=person_of(request))
    return redirect("leading:notifications")
