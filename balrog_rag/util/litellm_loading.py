"""Import LiteLLM lazily in a thread, silenced and kept off the network."""

import gc
import importlib
import logging
import os
import threading
import warnings
from typing import Any

from balrog_rag.util import redirects

_lock = threading.Lock()


def load(price_table: str = "carried") -> Any:
    """Import litellm; takes about two seconds the first time, so call it while other work starts."""
    with _lock:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", str(price_table == "carried"))
        # Use LiteLLM's own HTTP path for OpenAI-compatible endpoints: through the OpenAI SDK, building one
        # request of 33 messages takes about 5 ms longer.
        os.environ.setdefault("EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER", "true")
        # LiteLLM's secret filter takes a second per megabyte of error; every text passes `redact` anyway.
        os.environ.setdefault("LITELLM_DISABLE_REDACT_SECRETS", "true")
        os.environ.setdefault("LITELLM_LOG", "ERROR")
        os.environ.setdefault("LITELLM_MODE", "PRODUCTION")  # or it reads any .env above its own folder
        litellm = _import_uncollected("litellm")
        redirects.guard()
        litellm.suppress_debug_info = True
        litellm.telemetry = False
        litellm.drop_params = False
        # A call cancelled while LiteLLM builds it leaves such a coroutine behind; users need not see that.
        never = "coroutine 'BaseLLMHTTPHandler.async_completion' was never awaited"
        warnings.filterwarnings("ignore", message=never, category=RuntimeWarning)
        for name in ("httpx", "httpcore", "aiohttp"):
            # These log request URLs, including the key, at INFO.
            logging.getLogger(name).setLevel(logging.ERROR)
        # Whatever it logs at ERROR it also raises.
        logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
        return litellm


def _import_uncollected(name: str) -> Any:
    """Import a module and exclude its objects from garbage collection permanently.

    LiteLLM creates some 400,000 objects that live as long as the process. Each full collection scanned all of
    them and paused every episode for a quarter of a second.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.freeze()
        if collecting:
            gc.enable()
