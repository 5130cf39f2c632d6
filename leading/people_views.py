"""People: invited, added, given work and a role, let in and kept out; and what a one-time link opens."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from core import history
from core.models import User
from core.refusals import Conflict, Invalid
from core.viewing import refuse_into
from leading import actions, inviting, wording
from leading import people as listing
from leading.forms import InvitationForm, NewPasswordForm, OwnAccountForm, PersonForm, RoleForm, WorkForm
from leading.models import Invitation, OneTimeLink
from leading.views import lead


@require_http_methods(["GET", "POST"])
def people(request: HttpRequest) -> HttpResponse:
    person = lead(request)
    form = PersonForm(request.POST or None)
    status = 200
    if request.method == "POST":
        if form.is_valid():
            try:
                added, password = actions.add_person(by=person, **form.cleaned_data)
            except Invalid as refusal:
                refuse_into(form, refusal)
            else:
                words = _("%(name)s can sign in with the password %(password)s. It is shown this once.")
                messages.success(request, words % {"name": added.username, "password": password})
                return redirect("leading:people")
        status = 400
    context = {
        "section": "people",
        "form": form,
        "people": listing.people(),
        "invitations": inviting.open_invitations(),
        "requires_second_factor": settings.LBP_REQUIRE_TOTP,
    }
    return render(request, "leading/people.html", context, status=status)


@require_GET
def person_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One person with all that a lead can do about the account."""
    by, person = lead(request), get_object_or_404(listing.people(), pk=pk)
    context = {
        "section": "people",
        "one": person,
        "is_self": person == by,
        "roles": RoleForm().fields["role"].choices,  # type: ignore[attr-defined]  # of a choice field
        "trail": [(event, wording.line(event)) for event in history.history_of(person).order_by("-pk")[:12]],
    }
    return render(request, "leading/person_detail.html", context)


@require_http_methods(["GET", "POST"])
def person_work(request: HttpRequest, pk: int) -> HttpResponse:
    """The languages and secondary tasks of which a person is offered samples."""
    by, person = lead(request), get_object_or_404(User, pk=pk)
    kept = {"languages": person.work_languages, "tasks": person.work_tasks}
    form = WorkForm(request.POST or None, initial=kept)
    if request.method == "POST":
        form = WorkForm(request.POST)
        if form.is_valid():
            actions.change_work(person=person, by=by, **form.cleaned_data)
            messages.success(request, _("What %(name)s works on is saved.") % {"name": person.name})
            return redirect("leading:people")
    context = {"section": "people", "form": form, "worker": person}
    return render(request, "leading/person_work.html", context, status=400 if form.errors else 200)


@require_POST
def person_role(request: HttpRequest, pk: int) -> HttpResponse:
    by, person = lead(request), get_object_or_404(User, pk=pk)
    form = RoleForm(request.POST)
    actions.change_role(person=person, role=form.data.get("role", ""), by=by)
    messages.success(request, _("%(name)s: the role is changed.") % {"name": person.name})
    return redirect("leading:person_detail", pk=pk)


@require_http_methods(["GET", "POST"])
def person_active(request: HttpRequest, pk: int) -> HttpResponse:
    """Asks before it deactivates, and names what is open; the answer is a form of its own."""
    by, person = lead(request), get_object_or_404(User, pk=pk)
    if request.method == "POST":
        actions.set_active(person=person, active=request.POST.get("active") == "yes", by=by)
        words = _("%(name)s can sign in again.") if person.is_active else _("%(name)s can no longer sign in.")
        messages.success(request, words % {"name": person.name})
        return redirect("leading:people")
    context = {
        "section": "people",
        "one": person,
        "is_self": person == by,
        "claims": listing.open_claims_of(person),
        "reviews": listing.begun_reviews_of(person),
    }
    return render(request, "leading/person_active.html", context)


@require_POST
def person_password(request: HttpRequest, pk: int) -> HttpResponse:
    by, person = lead(request), get_object_or_404(User, pk=pk)
    password = actions.reset_password(person=person, by=by)
    words = _("%(name)s can sign in with the password %(password)s. It is shown this once.")
    messages.success(request, words % {"name": person.username, "password": password})
    return redirect("leading:person_detail", pk=pk)


@require_POST
def person_authenticator(request: HttpRequest, pk: int) -> HttpResponse:
    by, person = lead(request), get_object_or_404(User, pk=pk)
    actions.remove_authenticator(person=person, by=by)
    words = _("The authenticator of %(name)s is removed. They sign in with the password, and set up a new one.")
    messages.success(request, words % {"name": person.name})
    return redirect("leading:person_detail", pk=pk)


@require_POST
def person_reset_link(request: HttpRequest, pk: int) -> HttpResponse:
    """The answer shows the link, once. It is no redirect and no stored answer, because nothing may keep the text."""
    by, person = lead(request), get_object_or_404(User, pk=pk)
    link, token = actions.make_reset_link(person=person, by=by)
    address = request.build_absolute_uri(reverse("leading:reset_open", args=[token]))
    asked = "send" in request.POST
    shown = _shown(address, link, person.email, "reset", send=asked)
    return render(request, "leading/reset_made.html", {**shown, "one": person, "asked": asked}, status=201)


def _shown(address: str, link: OneTimeLink, email: str, kind: str, *, send: bool) -> dict[str, Any]:
    """What the page says that shows a link this once; with an address it goes there by e-mail too."""
    sent = bool(email) and send and actions.send_link(to=email, link=address, until=link.expires_at, kind=kind)
    return {"section": "people", "link": link, "address": address, "email": email, "sent": sent}


# Invitations -------------------------------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
def invite(request: HttpRequest) -> HttpResponse:
    by = lead(request)
    form = InvitationForm(
        request.POST if request.method == "POST" else None, initial={"role": request.GET.get("role", "")}
    )
    if request.method == "POST" and form.is_valid():
        try:
            invitation, token = actions.invite(by=by, **form.cleaned_data)
        except Invalid as refusal:
            refuse_into(form, refusal)
        else:
            address = request.build_absolute_uri(reverse("leading:invitation_open", args=[token]))
            shown = _shown(address, invitation, invitation.email, "invitation", send=True)
            return render(request, "leading/invitation_made.html", {**shown, "asked": True}, status=201)
    context = {"section": "people", "form": form}
    return render(request, "leading/invite.html", context, status=400 if form.errors else 200)


@require_POST
def invitation_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    by, invitation = lead(request), get_object_or_404(Invitation, pk=pk)
    actions.revoke_invitation(invitation=invitation, by=by)
    messages.success(request, _("The invitation is revoked: its link opens nothing any more."))
    return redirect("leading:people")


# What a link opens -------------------------------------------------------------------------------------------------


def _closed(request: HttpRequest, link: OneTimeLink | None) -> HttpResponse:
    """Says why the link opens nothing and what to do."""
    context = {"why": inviting.why_closed(link)}
    return render(request, "leading/link_closed.html", context, status=404 if link is None else 410)


@sensitive_post_parameters()
@login_not_required
@require_http_methods(["GET", "POST"])
def invitation_open(request: HttpRequest, token: str) -> HttpResponse:
    """The invited person chooses user name and password, is signed in, and lands on the work list."""
    invitation = inviting.invitation_of(token)
    if invitation is None or not actions.can_use_link(invitation):
        return _closed(request, invitation)
    if request.user.is_authenticated:
        return render(request, "leading/link_of_another.html", {"link": invitation}, status=409)
    form = OwnAccountForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        given: dict[str, Any] = {name: form.cleaned_data[name] for name in ("name", "full_name", "password")}
        try:
            person = actions.accept_invitation(invitation=invitation, **given)
        except Invalid as refusal:
            refuse_into(form, refusal)
        except Conflict:
            invitation.refresh_from_db()
            return _closed(request, invitation)
        else:
            login(request, person, backend=settings.AUTHENTICATION_BACKENDS[0])
            messages.success(request, _("Welcome, %(name)s. This is your work list.") % {"name": person.name})
            return redirect("leading:work")
    context = {"form": form, "invitation": invitation}
    return render(request, "leading/invitation_open.html", context, status=400 if form.errors else 200)


@sensitive_post_parameters()
@login_not_required
@require_http_methods(["GET", "POST"])
def reset_open(request: HttpRequest, token: str) -> HttpResponse:
    """A new password by a lead's link. Signing in follows, with the second factor where there is one."""
    link = inviting.reset_link_of(token)
    if link is None or not actions.can_use_link(link) or not link.person.is_active:
        return _closed(request, link)
    form = NewPasswordForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            actions.reset_own_password(link=link, password=form.cleaned_data["password"])
        except Invalid as refusal:
            refuse_into(form, refusal)
        except Conflict:
            link.refresh_from_db()
            return _closed(request, link)
        else:
            messages.success(request, _("The new password holds. Sign in with it."))
            return redirect("account_login")
    return render(request, "leading/reset_open.html", {"form": form, "link": link}, status=400 if form.errors else 200)
