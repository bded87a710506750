"""Hostile texts, a page read back, and a browser."""

import base64
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from balrog_rag.viewer.packing import unpacked
from tests.support import until

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=document.title='owned'>"
ANSWERS = (
    "north",
    f"{HOSTILE} south",
    "</script><svg onload=document.title='owned'>",
    "\\x1b]0;owned\\x07\\x1b[31mred \u202etxet desrever",
    f"Query: what is there to know {HOSTILE}",
    "Query: newt",
    "east",
)
"""The scripted model's answers."""

PAGES = {
    "newt": f"# newt {HOSTILE}\n\nWhat there is to know about north, south and east {HOSTILE}.\n",
    "link": "# [here](javascript:alert(1))\n\nThe stairs down: javascript:document.title='owned'\n",
}
"""The wiki's pages."""

_BLOCK = re.compile(rb'<script type="text/plain" id="block ([^"]*)">([A-Za-z0-9+/=]*)</script>')


def documents(page: Path) -> dict[str, Any]:
    """Every document in a page, by name."""
    blocks = _BLOCK.findall(page.read_bytes())
    return {name.decode(): unpacked(base64.b64decode(data)) for name, data in blocks}


class Browser:
    """A page in headless Chromium, with its console messages and requests."""

    def __init__(self, chromium: str, driver: str) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(driver))
        self.driver.set_script_timeout(120)

    def size(self, width: int, height: int = 900, scheme: str = "light") -> None:
        """Set the window's width, and whether the system's theme is dark."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})

    def open(self, address: str, ready: str = "document.querySelector('.screen pre, .list')") -> None:
        """Open a page and wait until it is ready; logs of earlier pages are discarded."""
        self.driver.get("about:blank")
        self.logs()
        self.driver.get(address)
        self.wait(ready)

    def js(self, code: str) -> Any:
        """The result of a script."""
        return self.driver.execute_script(f"return {code}")

    def wait(self, code: str) -> Any:
        """Wait until a script returns true."""
        return until(lambda: self.js(code), code)

    def press(self, *keys: str) -> None:
        """Press keys on the page."""
        from selenium.webdriver.common.action_chains import ActionChains

        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def logs(self) -> tuple[list[str], list[str]]:
        """The page's console messages, and the addresses it requested."""
        complaints = [entry["message"] for entry in self.driver.get_log("browser")]
        asked = [
            found.group(1)
            for entry in self.driver.get_log("performance")
            if '"Network.requestWillBeSent"' in entry["message"]
            and (found := re.search(r'"url":"([^"]*)"', entry["message"]))
        ]
        return complaints, asked

    def close(self) -> None:
        """Close the browser."""
        self.driver.quit()


def new_browser() -> Browser:
    """Start headless Chromium; the test is skipped if it or Selenium is missing."""
    pytest.importorskip("selenium", reason="Selenium is not installed: pip install selenium")
    found = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if not all(found):
        pytest.skip("chromium or chromedriver is missing: apt-get install chromium chromium-driver")
    return Browser(str(found[0]), str(found[1]))
