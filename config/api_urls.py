"""The API's resources. Each app lists its own in `api.routes`: (prefix, view set, base name)."""

from importlib import import_module

from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.routers import SimpleRouter

import core.schema  # noqa: F401 -- registers how programs sign in

router = SimpleRouter()
# The outer interface writes paths without a slash at the end; both are taken, so that no POST is lost in a redirect.
router.trailing_slash = "/?"
for app in ("documents", "generation", "annotation", "review", "release", "leading"):
    for prefix, view_set, name in import_module(f"{app}.api").routes:
        router.register(prefix, view_set, basename=name)

urlpatterns: list[URLPattern | URLResolver] = [
    path("schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path(
        "docs/",
        SpectacularSwaggerSplitView.as_view(url_name="api-schema"),
        name="api-docs",
    ),
    path("", include(router.urls)),
]
