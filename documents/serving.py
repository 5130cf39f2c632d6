"""The text of one version as it goes over the wire: stored gzip, plain text, never HTML, cached for good."""

import gzip

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotModified
from django.utils.cache import patch_vary_headers
from django.utils.http import parse_etags, quote_etag

from documents import queries
from documents.models import DocumentVersion

# A version's text never changes, so its address may be cached for ever; privately, because it needs a log-in.
CACHING = "private, max-age=31536000, immutable"


def text_response(request: HttpRequest, version: DocumentVersion) -> HttpResponseBase:
    packed = takes_gzip(request.headers.get("Accept-Encoding", ""))
    etag = quote_etag(f"{version.sha256}{'-gz' if packed else ''}")
    response: HttpResponse
    if etag in parse_etags(request.headers.get("If-None-Match", "")):
        response = HttpResponseNotModified()
    else:
        data = queries.gzipped_text_of(version)
        response = HttpResponse(data if packed else gzip.decompress(data), content_type="text/plain; charset=utf-8")
        if packed:
            response.headers["Content-Encoding"] = "gzip"
        response.headers["Content-Length"] = str(len(response.content))
    response.headers["ETag"] = etag
    response.headers["Cache-Control"] = CACHING
    response.headers["X-Content-Type-Options"] = "nosniff"
    patch_vary_headers(response, ["Accept-Encoding"])
    return response


def takes_gzip(accepted: str) -> bool:
    """Whether an Accept-Encoding header takes gzip: named, or by `*`, and not with q=0."""
    weights: dict[str, float] = {}
    for part in accepted.lower().split(","):
        name, *parameters = [word.strip() for word in part.split(";")]
        weight = next((parameter[2:] for parameter in parameters if parameter.startswith("q=")), "1")
        try:
            weights[name] = float(weight)
        except ValueError:
            weights[name] = 0
    return weights.get("gzip", weights.get("*", 0)) > 0
