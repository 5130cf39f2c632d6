"""The site's pages. Every app names its own paths; the outer ones are fixed (README, Pages)."""

from django.urls import include, path

urlpatterns = [
    path("", include("core.urls")),
    path("", include("leading.urls")),
    path("", include("documents.urls")),
    path("", include("generation.urls")),
    path("", include("annotation.urls")),
    path("", include("review.urls")),
    path("", include("release.urls")),
    path("account/", include("allauth.urls")),
    path("api/v1/", include("config.api_urls")),
]

handler400 = "core.views.bad_request"
handler403 = "core.views.forbidden"
handler404 = "core.views.not_found"
handler500 = "core.views.server_error"
