"""LiteLLM, imported on first use in a thread, told to keep quiet and to stay off the network."""

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
    """The litellm module; about two seconds the first time, so call it while something else starts."""
    with _lock:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", str(price_table == "carried"))
        # LiteLLM's own HTTP path for OpenAI-compatible endpoints; through the OpenAI SDK, building one
        # request of 33 messages takes about 5 ms longer.
        os.environ.setdefault("EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER", "true")
        # Its filter of secrets takes a second for a megabyte of error; every text passes our own.
        os.environ.setdefault("LITELLM_DISABLE_REDACT_SECRETS", "true")
        os.environ.setdefault("LITELLM_LOG", "ERROR")
        os.environ.setdefault("LITELLM_MODE", "PRODUCTION")  # else it reads any .env above its own folder
        litellm = _import_uncollected("litellm")
        redirects.guard()
        litellm.suppress_debug_info = True
        litellm.telemetry = False
        litellm.drop_params = False
        # A call given up while LiteLLM builds it leaves such a coroutine behind, which is no news to a user.
        never = "coroutine 'BaseLLMHTTPHandler.async_completion' was never awaited"
        warnings.filterwarnings("ignore", message=never, category=RuntimeWarning)
        for name in ("httpx", "httpcore", "aiohttp"):
            # These write request addresses, key and all, at INFO.
            logging.getLogger(name).setLevel(logging.ERROR)
        # What it writes at ERROR it raises as well.
        logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
        return litellm


def _import_uncollected(name: str) -> Any:
    """Import, and keep what came out of the garbage collector's sight for good.

    LiteLLM makes some 400,000 objects that live as long as the process. Each full collection went through
    them all and kept every episode waiting for a quarter of a second.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.freeze()
        if collecting:
            gc.enable()
