"""A small WebDriver client for headless Chromium by way of chromedriver; no packages needed."""

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004", "ArrowLeft": "\ue012",
        "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Control": "\ue009"}


def find_programs():
    """(chromium, chromedriver), or None where one is missing."""
    names = ["chromium", "chromium-browser", "google-chrome"]
    browser = next((path for path in map(shutil.which, names) if path), None)
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Browser:
    """One browser window. Use as a context manager; its profile folder is new and thrown away."""

    def __init__(self, programs, width, height, is_phone=False, is_dark=False):
        self.folder = tempfile.TemporaryDirectory(prefix="lumbre-browser-",
                                                  ignore_cleanup_errors=True)
        port = free_port()
        self.address = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen([programs[1], f"--port={port}"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        self.session = None
        try:
            self._wait_until_ready()
            self._start(programs[0], width, height, is_phone, is_dark)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            if self.session:
                self._request("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.folder.cleanup()

    def _wait_until_ready(self):
        deadline = time.monotonic() + 30
        while True:
            try:
                self._request("GET", "/status", in_session=False)
                return
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def _start(self, program, width, height, is_phone, is_dark):
        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
                     "--no-first-run", "--disable-background-networking",
                     "--disable-component-update", "--disable-sync",
                     f"--window-size={width},{height}", f"--user-data-dir={self.folder.name}"]
        options = {"binary": program, "args": arguments}
        if is_phone:
            options["mobileEmulation"] = {"deviceMetrics": {
                "width": width, "height": height, "pixelRatio": 2, "touch": True, "mobile": True}}
        wanted = {"capabilities": {"alwaysMatch": {"browserName": "chrome",
                                                   "goog:loggingPrefs": {"browser": "ALL"},
                                                   "goog:chromeOptions": options}}}
        self.session = self._request("POST", "/session", wanted, in_session=False)["sessionId"]
        if not is_phone:
            self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height,
                          deviceScaleFactor=1, mobile=False)
        if is_dark:
            self.devtools("Emulation.setEmulatedMedia",
                          features=[{"name": "prefers-color-scheme", "value": "dark"}])

    def _request(self, method, path, body=None, in_session=True):
        address = self.address + (f"/session/{self.session}" if in_session else "") + path
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(address, data, {"Content-Type": "application/json"},
                                         method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.read().decode()[:500]}") from None

    def devtools(self, command, **parameters):
        return self._request("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, address):
        self._request("POST", "/url", {"url": "about:blank"})  # else a new hash alone loads nothing
        self._request("POST", "/url", {"url": address})

    def address_now(self):
        return self._request("GET", "/url")

    def back(self):
        self._request("POST", "/back", {})

    def reload(self):
        self._request("POST", "/refresh", {})

    def run(self, script, *arguments):
        return self._request("POST", "/execute/sync", {"script": script, "args": arguments})

    def click_at(self, x, y):
        steps = [{"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0},
                 {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self._act("pointer", steps)

    def hover_at(self, x, y):
        self._act("pointer", [{"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0}])

    def press(self, *keys):
        """Presses keys one after the other; "Control+f" holds the first one."""
        steps = []
        for key in keys:
            parts = [KEYS.get(part, part) for part in (key.split("+") if len(key) > 1 else [key])]
            steps += [{"type": "keyDown", "value": part} for part in parts]
            steps += [{"type": "keyUp", "value": part} for part in reversed(parts)]
        self._act("key", steps)

    def type(self, text):
        self.press(*text)

    def _act(self, kind, steps):
        source = {"type": kind, "id": kind, "actions": steps}
        if kind == "pointer":
            source["parameters"] = {"pointerType": "mouse"}
        self._request("POST", "/actions", {"actions": [source]})

    def log(self):
        return self._request("POST", "/se/log", {"type": "browser"})

    def print_to_pdf(self):
        data = self.devtools("Page.printToPDF", landscape=True, printBackground=True)["data"]
        return base64.b64decode(data)

    def save_screenshot(self, path):
        data = self.devtools("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
