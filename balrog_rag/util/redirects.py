"""A call that a server sends on to another one takes neither key nor header of the user's along.

httpx drops `Authorization` alone, and providers' keys travel in headers of many names. LiteLLM and the SDKs
under it make clients of their own, which no hook of ours reaches, so the one place where all of them build
such a request is changed.
"""

from typing import Any

NEUTRAL = frozenset(
    {"host", "accept", "accept-encoding", "user-agent", "connection"}
    | {"content-type", "content-length", "transfer-encoding"}
)
"""Headers that say how a call is made, and nothing of who makes it."""
OF_THE_SDK = "x-stainless-"
"""OpenAI's SDK reads its own versions and flags off the request that was answered."""


def guard() -> None:
    """From now on, for every client of httpx in this process."""
    from httpx import URL, Headers, Request
    from httpx._client import BaseClient

    follow = BaseClient._redirect_headers
    if getattr(follow, "guarded", False):
        return

    def without_secrets(self: Any, request: Request, url: URL, method: str) -> Headers:
        headers = follow(self, request, url, method)
        if elsewhere(request.url, url):
            for name in set(headers) - NEUTRAL:
                if not name.startswith(OF_THE_SDK):
                    del headers[name]
        return headers

    without_secrets.guarded = True  # type: ignore[attr-defined]
    BaseClient._redirect_headers = without_secrets  # type: ignore[method-assign]


def elsewhere(here: Any, there: Any) -> bool:
    """Whether two addresses (of httpx) are not of one server; TLS where there was none is no difference."""
    if (here.scheme, there.scheme) == ("http", "https") and here.host == there.host:
        return (here.port, there.port) != (None, None)
    return (here.scheme, here.host, here.port) != (there.scheme, there.host, there.port)
