"""A headless Chromium, driven through the DevTools protocol over a pipe: no port, no driver, and no
other library."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run"
    " --disable-background-networking --disable-component-update"
    " --disable-sync --disable-dev-shm-usage --disable-extensions"
    " --remote-debugging-pipe --hide-scrollbars"
).split()
PATIENCE = 60.0  # seconds


def program() -> str | None:
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class Browser:
    def __init__(self) -> None:
        path = program()
        assert path is not None
        self._folder = tempfile.mkdtemp(prefix="plait-browser-")
        to_it, self._send = os.pipe()
        self._receive, from_it = os.pipe()

        def connect() -> None:  # the protocol's pipes are descriptors 3 and 4, by definition
            spare = os.dup(from_it), os.dup(to_it)
            os.dup2(spare[1], 3)
            os.dup2(spare[0], 4)

        self._process = subprocess.Popen(
            [path, *FLAGS, f"--user-data-dir={self._folder}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=connect,
        )
        os.close(to_it)
        os.close(from_it)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.messages: list[str] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select.select([self._receive], [], [], PATIENCE)[0]:
                raise RuntimeError(f"the browser has said nothing for {PATIENCE} s")
            read = os.read(self._receive, 1 << 20)
            if not read:
                raise RuntimeError("the browser has ended")
            self._buffer += read
        text, self._buffer = self._buffer.split(b"\0", 1)
        found: dict[str, Any] = json.loads(text)
        return found

    def _note(self, event: dict[str, Any]) -> None:
        """Errors and console messages: a good page has none."""
        parameters = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            exception = details.get("exception", {})
            self.messages.append(str(exception.get("description", details["text"])))
        elif event.get("method") == "Log.entryAdded":
            self.messages.append(parameters["entry"]["text"])
        elif event.get("method") == "Runtime.consoleAPICalled":
            self.messages.append(str([each.get("value") for each in parameters["args"]]))

    def open(self, path: Path, hash: str = "") -> None:
        self.messages.clear()
        self.ask("Page.navigate", url="about:blank")
        self.ask("Page.navigate", url=path.as_uri() + hash)
        self.wait("document.documentElement.dataset.ready === 'yes'")

    def run(self, expression: str) -> Any:
        answer = self.ask(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def wait(self, condition: str, seconds: float = 20) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if self.run(condition):
                    return
            except RuntimeError:  # between two pages
                pass
            time.sleep(0.02)
        raise AssertionError(f"not within {seconds} s: {condition}; messages: {self.messages}")

    def key(self, key: str) -> None:
        text = key if len(key) == 1 else ""
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, text=text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=key)

    def click(self, selector: str) -> None:
        """With the mouse, in the middle of the first element that matches. What the mouse hits is
        what was drawn last, so all that has happened is drawn first."""
        spot = self.run(
            f"(async () => {{ const node = document.querySelector({json.dumps(selector)});"
            " node.scrollIntoView({block: 'nearest'});"
            " for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);"
            " const box = node.getBoundingClientRect();"
            " return [box.left + box.width / 2, box.top + box.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.ask(
                "Input.dispatchMouseEvent",
                type=kind, x=spot[0], y=spot[1], button="left", clickCount=1,
            )

    def size(self, width: int, height: int) -> None:
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )

    def prefer(self, scheme: str) -> None:
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.ask("Emulation.setEmulatedMedia", features=[feature])

    def screenshot(self) -> bytes:
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])

    def pdf(self) -> bytes:
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=True)["data"])

    def close(self) -> None:
        try:
            self._session = None
            self.ask("Browser.close")
        except (RuntimeError, OSError):
            self._process.kill()
        self._process.wait(20)
        os.close(self._send)
        os.close(self._receive)
        shutil.rmtree(self._folder, ignore_errors=True)
