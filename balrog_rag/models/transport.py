"""LiteLLM's HTTP client, made to send every request once and to tell what it heard."""

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

import httpx

from balrog_rag.models.failures import Heard, seconds_to_wait

heard_now: ContextVar[Heard | None] = ContextVar("heard_now", default=None)
"""Where the transport notes the status and Retry-After of the attempt that this task makes."""


def make_client(litellm: Any, timeout: httpx.Timeout) -> Any:
    """A client to hand to LiteLLM, which then opens none of its own; close it with `await client.close()`."""

    async def patient(request: httpx.Request) -> None:
        request.extensions["timeout"] = timeout.as_dict()  # LiteLLM mostly passes on one figure for all

    class OnceHandler(litellm.AsyncHTTPHandler):  # type: ignore[misc]
        """LiteLLM's client without its hidden second try after a broken connection."""

        async def single_connection_post_request(self, *args: Any, **kwargs: Any) -> Any:
            raise httpx.ReadError("the connection broke before the answer came")

    return OnceHandler(event_hooks={"request": [patient], "response": [_listen]})


async def _listen(response: httpx.Response) -> None:
    if not response.has_redirect_location:  # what the address it names answers is heard next
        hear(response.status_code, response.headers)


def hear(status: int, headers: Mapping[str, str]) -> None:
    """Note what the attempt of this task was answered."""
    heard = heard_now.get()
    if heard is not None:
        heard.status = status
        heard.retry_after = seconds_to_wait(headers.get("retry-after")) if status >= 300 else None
