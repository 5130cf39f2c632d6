"""`documents` in the API: the same actions as on the pages."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from core.api import ProblemSerializer, ViewSet
from core.refusals import Invalid, NotAllowed, RuleBroken
from documents import actions, queries
from documents.actions import Facts, Seen, Sent
from documents.filters import DocumentFilter
from documents.models import Document, DocumentVersion, ImportBatch
from documents.serializers import (
    ApproveSerializer,
    BatchLineSerializer,
    BatchSerializer,
    CorrectSerializer,
    CreateSerializer,
    CutAnswerSerializer,
    CutSerializer,
    DocumentDetailSerializer,
    DocumentSerializer,
    JoinSerializer,
    RangeSerializer,
    RejectSerializer,
    ReviseSerializer,
    SendBatchSerializer,
    TrimSerializer,
)
from documents.unpacking import pieces_of
from documents.workflow import Outcome

REFUSED = dict.fromkeys((400, 403, 409, 422), ProblemSerializer)


class DocumentViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, ViewSet):
    queryset = Document.objects.for_list().select_related("latest__made_by", "latest__decided_by")
    serializer_class = DocumentSerializer
    filterset_class = DocumentFilter

    def get_serializer_class(self) -> Any:
        return DocumentDetailSerializer if self.action == "retrieve" else super().get_serializer_class()

    def answer(self, version: DocumentVersion, code: int = status.HTTP_200_OK) -> Response:
        document = self.get_queryset().get(pk=version.document_id)
        return Response(DocumentDetailSerializer(document).data, status=code)

    def body(self, request: Request, serializer: Any) -> dict[str, Any]:
        bound = serializer(data=request.data)
        bound.is_valid(raise_exception=True)
        return dict(bound.validated_data)

    def version(self, document: Document, number: int | None) -> DocumentVersion:
        versions = DocumentVersion.objects.select_related("document").filter(document=document)
        return get_object_or_404(versions, number=number) if number is not None else versions.latest("number")

    def seen(self, version: DocumentVersion, said: dict[str, Any] | None) -> Seen | None:
        """A number that no version has is that of none: the decision is refused."""
        if said is None:
            return None
        numbers = dict(version.document.versions.values_list("number", "pk"))
        return Seen(said["state"], version.sha256, numbers.get(said["latest"], 0))

    @extend_schema(request=CreateSerializer, responses={201: DocumentDetailSerializer, **REFUSED})
    def create(self, request: Request) -> Response:
        """One text becomes one document: `text` in JSON, or `file` as multipart."""
        if not actions.can_import_document(self.person):
            raise NotAllowed(_("This is not for your role to do."))
        body = self.body(request, CreateSerializer)
        file, text, encoding = body.pop("file", None), body.pop("text", None), body.pop("encoding")
        if (file is None) == (text is None):
            raise Invalid({"text": _("Send either a text or a file.")})
        if file is None:
            return self.answer(actions.paste_document(text=text, by=self.person, **body), status.HTTP_201_CREATED)
        pieces = list(pieces_of(file.name, file.read()))
        if len(pieces) != 1 or pieces[0].path != file.name or pieces[0].data is None:
            words = _(
                "One text in a request. Archives and JSONL are taken at /batches/, by the page and by import_documents."
            )
            raise RuleBroken(words, rule="unsupported_format")
        version = actions.import_document(
            data=pieces[0].data, file_name=file.name, by=self.person, encoding=encoding, **body
        )
        return self.answer(version, status.HTTP_201_CREATED)

    @extend_schema(
        parameters=[
            OpenApiParameter("start", OpenApiTypes.INT, description="first code point, from 0"),
            OpenApiParameter("end", OpenApiTypes.INT, description="behind the last code point; the end when left out"),
            OpenApiParameter(
                "version", OpenApiTypes.INT, description="number of the version; the latest when left out"
            ),
        ],
        responses={200: RangeSerializer, 400: ProblemSerializer},
    )
    @action(detail=True, methods=["get"], filterset_class=None, pagination_class=None)
    def text(self, request: Request, pk: str) -> Response:
        """The text, or a part of it."""
        document = self.get_object()
        wanted = self._number("version")
        version = self.version(document, wanted)
        start = self._number("start") or 0
        end = self._number("end")
        end = version.chars if end is None else min(end, version.chars)
        if start > end:
            raise Invalid({"start": _("The start is behind the end.")})
        part = queries.text_between(version, start, end)
        return Response({"version": version.number, "start": start, "end": end, "chars": version.chars, "text": part})

    def _number(self, name: str) -> int | None:
        value = self.request.query_params.get(name)
        if value is None:
            return None
        if not (value.isascii() and value.isdecimal() and len(value) < 10):
            raise Invalid({name: _("A whole number from 0 is expected.")})
        return int(value)

    @extend_schema(request=ApproveSerializer, responses={200: DocumentDetailSerializer, **REFUSED})
    @action(detail=True, methods=["post"])
    def approve(self, request: Request, pk: str) -> Response:
        """Clear a version for use."""
        body = self.body(request, ApproveSerializer)
        version = self.version(self.get_object(), body.get("version"))
        seen = self.seen(version, body.get("seen"))
        return self.answer(actions.approve_version(version=version, by=self.person, note=body["note"], seen=seen))

    @extend_schema(request=RejectSerializer, responses={200: DocumentDetailSerializer, **REFUSED})
    @action(detail=True, methods=["post"])
    def reject(self, request: Request, pk: str) -> Response:
        """Refuse a version, or withdraw its approval."""
        body = self.body(request, RejectSerializer)
        version = self.version(self.get_object(), body.pop("version", None))
        seen = self.seen(version, body.pop("seen", None))
        return self.answer(actions.reject_version(version=version, by=self.person, seen=seen, **body))

    @extend_schema(request=CorrectSerializer, responses={200: DocumentDetailSerializer, **REFUSED})
    @action(detail=True, methods=["post"])
    def correct(self, request: Request, pk: str) -> Response:
        """Correct what is recorded about the document. Its text stays."""
        document = self.get_object()
        if not actions.can_correct_document(self.person, document):
            raise NotAllowed(_("This is not for your role to do."))
        body = self.body(request, CorrectSerializer)
        actions.correct_document(document=document, by=self.person, **body)
        return Response(DocumentDetailSerializer(self.get_object()).data)

    @extend_schema(request=ReviseSerializer, responses={200: DocumentDetailSerializer, **REFUSED})
    @action(detail=True, methods=["post"])
    def revise(self, request: Request, pk: str) -> Response:
        """Another text: a new version, which goes back to compliance."""
        document, body = self.get_object(), self.body(request, ReviseSerializer)
        return self.answer(actions.revise_document(document=document, by=self.person, **body))

    @extend_schema(request=TrimSerializer, responses={200: DocumentDetailSerializer, **REFUSED})
    @action(detail=True, methods=["post"])
    def trim(self, request: Request, pk: str) -> Response:
        """Cut the text behind the last whole paragraph that fits, or at a place: a new version."""
        body = self.body(request, TrimSerializer)
        seen = body.pop("version")
        return self.answer(actions.trim_document(document=self.get_object(), by=self.person, based_on=seen, **body))

    @extend_schema(request=CutSerializer, responses={201: CutAnswerSerializer, **REFUSED})
    @action(detail=True, methods=["post"])
    def cut(self, request: Request, pk: str) -> Response:
        """Cut the text into parts, each a new document; all or none. The document itself stays."""
        body = self.body(request, CutSerializer)
        document = self.get_object()
        if not actions.can_cut_document(self.person, document):
            raise NotAllowed(_("This is not for your role to do."))
        text = queries.text_of(self.version(document, body["version"]))
        parts = actions.propose_parts(text, bucket=body["bucket"], number=body["parts"], cuts=body.get("cuts", ()))
        made = actions.cut_document(
            document=document,
            by=self.person,
            spans=[(part.start, part.end) for part in parts],
            based_on=body["version"],
            reason=body["reason"],
        )
        stored = self.get_queryset().in_bulk([version.document_id for version in made])
        answer = [DocumentDetailSerializer(stored[version.document_id]).data for version in made]
        return Response({"documents": answer}, status=status.HTTP_201_CREATED)

    @extend_schema(request=JoinSerializer, responses={201: DocumentDetailSerializer, **REFUSED})
    @action(detail=True, methods=["post"])
    def join(self, request: Request, pk: str) -> Response:
        """Join this document with others into a new one."""
        body = self.body(request, JoinSerializer)
        # A number that no database can hold is the number of no document.
        known = [number for number in body["documents"] if abs(number) < 2**63]
        others = {document.pk: document for document in Document.objects.filter(pk__in=known)}
        missing = [str(number) for number in body["documents"] if number not in others]
        if missing:
            raise Invalid({"documents": _("There is no document %s.") % ", ".join(missing)})
        documents = [self.get_object(), *(others[number] for number in body["documents"])]
        version = actions.join_documents(
            documents=documents,
            title=body["title"],
            by=self.person,
            headings=body.get("headings", ()),
            reason=body["reason"],
        )
        return self.answer(version, status.HTTP_201_CREATED)


class BatchViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, ViewSet):
    """Many texts sent at once, taken in by the worker. For leads."""

    queryset = ImportBatch.objects.select_related("made_by").order_by("-id")
    serializer_class = BatchSerializer
    filterset_fields = ("state",)

    def check_permissions(self, request: Request) -> None:
        super().check_permissions(request)
        if not actions.can_import_document(self.person):
            raise NotAllowed(_("Only leads bring documents in."))

    @extend_schema(
        request={"multipart/form-data": SendBatchSerializer},
        responses={202: BatchSerializer, 413: ProblemSerializer, **REFUSED},
    )
    def create(self, request: Request) -> Response:
        """Files, archives and JSONL, as multipart. Answered at once; follow the batch until its state is finished.

        The same files with the same facts, sent again while the batch is unfinished, are the same batch.
        """
        bound = SendBatchSerializer(data=request.data)
        bound.is_valid(raise_exception=True)
        body = dict(bound.validated_data)
        files, encoding = body.pop("files"), body.pop("encoding")
        sent = [Sent(file.name or "file", file) for file in files]
        batch = actions.start_batch(files=sent, facts=Facts(**body), encoding=encoding, by=self.person)
        return Response(BatchSerializer(batch).data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(request=None, responses={200: BatchSerializer, **REFUSED})
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Take nothing more of it. What was taken stays."""
        batch = actions.cancel_batch(batch=self.get_object(), by=self.person)
        return Response(BatchSerializer(batch).data)

    @extend_schema(
        parameters=[OpenApiParameter("status", OpenApiTypes.STR, enum=Outcome.values)],
        responses={200: BatchLineSerializer(many=True), 400: ProblemSerializer},
    )
    @action(detail=True, methods=["get"], filterset_fields=None)
    def lines(self, request: Request, pk: str) -> Response:
        """What became of each text, in the order of the files."""
        rows = self.get_object().lines.select_related("version").order_by("file_id", "number")
        wanted = request.query_params.get("status")
        if wanted is not None and wanted not in Outcome.values:
            raise Invalid({"status": _("Known are: %s.") % ", ".join(Outcome.values)})
        page = self.paginate_queryset(rows.filter(status=wanted) if wanted else rows)
        assert page is not None
        return self.get_paginated_response(BatchLineSerializer(page, many=True).data)


routes: list[tuple[str, type[ViewSet], str]] = [
    ("documents", DocumentViewSet, "document"),
    ("batches", BatchViewSet, "batch"),
]
