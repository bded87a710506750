"""Strip the user's keys and headers from a request when a server redirects it to a different server.

httpx drops only `Authorization`, but providers' keys travel in many headers. LiteLLM and the SDKs below it
create their own clients, out of reach of our hooks, so this patches the one method of httpx through which all
of them build a redirected request.
"""

from typing import Any

NEUTRAL = frozenset(
    {"host", "accept", "accept-encoding", "user-agent", "connection"}
    | {"content-type", "content-length", "transfer-encoding"}
)
"""Headers that describe the request itself and do not identify the user."""
OF_THE_SDK = "x-stainless-"
"""OpenAI's SDK reads its own versions and flags from the request that was answered."""


def guard() -> None:
    """Patch every httpx client of this process."""
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
    """Whether two httpx addresses are on different servers; an upgrade to TLS is not a difference."""
    if (here.scheme, there.scheme) == ("http", "https") and here.host == there.host:
        return (here.port, there.port) != (None, None)
    return (here.scheme, here.host, here.port) != (there.scheme, there.host, there.port)
