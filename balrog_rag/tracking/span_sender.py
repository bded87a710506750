"""Sends finished spans to an OpenTelemetry collector in batches, and counts those that it could not send."""

import logging
import os
import time
from typing import Any

from balrog_rag import __version__
from balrog_rag.contracts.errors import BalrogError

BATCH = 512
"""Spans in one request."""
INTERVAL = 5.0
"""Seconds after which spans are sent in smaller batches, too."""
TIMEOUT = 5.0
"""Seconds for a request unless OpenTelemetry's variables say otherwise. Meanwhile events wait in a queue."""
TIMEOUTS = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")


class SpanSender:
    """Makes spans, and sends them from the calling thread.

    OpenTelemetry's own batch processor drops spans silently when its queue is full or its collector is away.
    """

    def __init__(self, about: dict[str, Any]) -> None:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider

        # It would warn on stderr, under the dashboard, of what `close` reports.
        logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
        # A provider of its own: the process's global one may belong to the program that started the run.
        self._spans = TracerProvider(resource=Resource.create(about), shutdown_on_exit=False)
        self._tracer = self._spans.get_tracer("balrog_rag", __version__)
        given = any(os.environ.get(name) for name in TIMEOUTS)
        self._exporter = OTLPSpanExporter(timeout=None if given else TIMEOUT)
        self._waiting: list[Any] = []
        self._sent = time.monotonic()
        self._all = self._lost = 0

    def begin(self, name: str, about: dict[str, Any]) -> Any:
        """Begin a trace; returns its first span."""
        return self._tracer.start_span(name, attributes=about)

    def end(self, span: Any, at: int | None = None) -> None:
        """End a span; it is sent with the next batch."""
        span.end(at)
        self._waiting.append(span)
        if len(self._waiting) >= BATCH or time.monotonic() - self._sent > INTERVAL:
            self._send()

    def add_child(self, parent: Any, name: str, about: dict[str, Any], seconds: float, client: bool) -> None:
        """Add a span that ends now and began `seconds` ago."""
        from opentelemetry.trace import SpanKind, set_span_in_context

        now = time.time_ns()
        span = self._tracer.start_span(
            name,
            context=set_span_in_context(parent),
            kind=SpanKind.CLIENT if client else SpanKind.INTERNAL,
            attributes=about,
            start_time=now - int(seconds * 1e9),
        )
        self.end(span, now)

    def close(self) -> None:
        """Send what is left; raises BalrogError if spans were lost."""
        self._send()
        self._exporter.shutdown()
        self._spans.shutdown()
        if self._lost:
            raise BalrogError(
                f"{self._lost:,} of {self._all:,} spans could not be sent; check OTEL_EXPORTER_OTLP_ENDPOINT "
                "and that the collector accepts OTLP over HTTP"
            )

    def _send(self) -> None:
        from opentelemetry.sdk.trace.export import SpanExportResult

        batch, self._waiting = self._waiting, []
        self._all += len(batch)
        if batch and self._exporter.export(batch) != SpanExportResult.SUCCESS:
            self._lost += len(batch)
        self._sent = time.monotonic()
