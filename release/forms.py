"""What is typed on the pages of releases."""

from django import forms
from django.utils.translation import gettext_lazy as _


class ReleaseForm(forms.Form):
    version = forms.CharField(label=_("Version"), max_length=40, help_text=_("Such as 1.0; it cannot be used again."))
    allow_incomplete = forms.BooleanField(
        label=_("Allow incomplete: some cells may hold fewer samples than their target"), required=False
    )


class WithdrawForm(forms.Form):
    reason = forms.CharField(
        label=_("Why this release should no longer be used"), widget=forms.Textarea(attrs={"rows": 3})
    )
