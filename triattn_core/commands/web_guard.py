"""A guard in front of the app's server: refuses requests from other origins, and keeps pages from being framed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any
from urllib.parse import urlsplit

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

CLOSED = ("/_stcore/metrics",)  # metrics about the server and its sessions are private
# Streamlit's own page has inline scripts and styles, and its charts compile their expressions.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; media-src 'self' data: blob:; connect-src 'self' data: blob:; "
    "worker-src 'self' blob:; frame-src 'self' data: blob:; object-src 'none'; base-uri 'self'; form-action 'self'; "
    "frame-ancestors 'self'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-frame-options", b"SAMEORIGIN"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)
# Streamlit starts with this middleware outermost. It would ask an address service on the internet whether a foreign
# origin is its own machine, and take any port of this machine for itself: such requests do not reach it.
LAUNCH = """
from streamlit import config
from streamlit.web.server.starlette import starlette_app

from triattn_core.commands.web_guard import WebGuard
from triattn_core.inference import preload

preload.start()
own_middleware = starlette_app.create_streamlit_middleware

def middleware():
    inner = own_middleware()
    return [type(inner[0])(WebGuard, origins=set(config.get_option("server.corsAllowedOrigins"))), *inner]

starlette_app.create_streamlit_middleware = middleware
"""


class WebGuard:
    """An ASGI application that wraps another.  origins: other sites that are allowed, such as https://example.org."""

    def __init__(self, app: Callable, origins: Collection[str] = ()):
        self.app, self.origins = app, frozenset(origin.rstrip("/") for origin in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request, or passes it on."""
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        status = self._refusal(scope)
        if scope["type"] == "websocket":
            if not status:
                return await self.app(scope, receive, send)
            await receive()  # the request to connect
            return await send({"type": "websocket.close", "code": 1008})
        if not status:
            return await self.app(scope, receive, _with_headers(send))
        headers = [(b"content-type", b"text/plain"), *HEADERS]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"Not found" if status == 404 else b"Forbidden"})

    def _refusal(self, scope: Scope) -> int:
        """The status of a refusal, or 0."""
        if scope["path"].rstrip("/").endswith(CLOSED):
            return 404
        headers = dict(scope["headers"])
        origin = headers.get(b"origin")
        if origin is None or origin.decode("latin-1") in self.origins:
            return 0
        return 0 if same_origin(origin.decode("latin-1"), headers.get(b"host", b"").decode("latin-1")) else 403


def same_origin(origin: str, host: str) -> bool:
    """Whether an Origin header names the requested host and port."""
    try:
        return bool(host) and urlsplit(origin).netloc.lower() == host.lower()
    except ValueError:
        return False


def _with_headers(send: Send) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message.get("headers", ())}
            added = [(name, value) for name, value in HEADERS if name not in present]
            message = {**message, "headers": [*message.get("headers", ()), *added]}
        await send(message)

    return sending
