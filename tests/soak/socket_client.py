"""One session of the app as a browser tab opens it: a WebSocket, a request to run a page, the page's elements."""

from __future__ import annotations

import base64
import os
import socket
import struct
import time
from collections.abc import Iterator
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg


class Tab:
    """A session on 127.0.0.1; closing it is what closing a tab is."""

    def __init__(self, port: int, limit: float = 120):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=limit)
        self.held, self.limit = b"", limit
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET /_stcore/stream HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            "Upgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Protocol: streamlit\r\n\r\n".encode()
        )
        while b"\r\n\r\n" not in self.held:
            self._more()
        head, _, self.held = self.held.partition(b"\r\n\r\n")
        if b" 101 " not in head.splitlines()[0]:
            raise ConnectionError(head.splitlines()[0].decode())

    def open_page(self, page: str, **query: str) -> list[ForwardMsg]:
        """All messages of a page's run.  Raises TimeoutError where it does not end."""
        return [message for _, message in self.follow_page(page, **query)]

    def follow_page(self, page: str, **query: str) -> Iterator[tuple[float, ForwardMsg]]:
        """The same as they come, each with the seconds since the page was asked for."""
        asked = BackMsg()
        asked.rerun_script.query_string = urlencode(query)
        asked.rerun_script.page_name = page
        self._send(asked.SerializeToString())
        begun = time.monotonic()
        while time.monotonic() < begun + self.limit:
            message = ForwardMsg.FromString(self._receive())
            yield time.monotonic() - begun, message
            if message.WhichOneof("type") == "script_finished":
                return
        raise TimeoutError(f"{page} does not end in {self.limit} s")

    def close(self) -> None:
        self.socket.close()

    def _more(self) -> None:
        part = self.socket.recv(1 << 20)
        if not part:
            raise ConnectionError("the server has closed the connection")
        self.held += part

    def _take(self, size: int) -> bytes:
        while len(self.held) < size:
            self._more()
        data, self.held = self.held[:size], self.held[size:]
        return data

    def _send(self, content: bytes, kind: int = 2) -> None:
        size = len(content)
        length = bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack(">H", size)
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(content))
        self.socket.sendall(bytes([0x80 | kind]) + length + mask + masked)

    def _receive(self) -> bytes:
        """The next whole binary message; a ping is answered."""
        whole = b""
        while True:
            first, second = self._take(2)
            size = second & 127
            if size > 125:
                size = struct.unpack(">H" if size == 126 else ">Q", self._take(2 if size == 126 else 8))[0]
            content, kind = self._take(size), first & 15
            if kind == 8:
                raise ConnectionError("the server has closed the connection")
            if kind == 9:
                self._send(content, 10)
            if kind in (0, 2):
                whole += content
                if first & 128:
                    return whole
