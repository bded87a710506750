"""A Griffe extension: examples in docstrings (`>>> ...`) become blocks of code."""

import re
from typing import Any

from griffe import Extension, Object

EXAMPLE = re.compile(r"(?:^>>> .*\n?)+", re.MULTILINE)


class CodeInDocstrings(Extension):
    """Fences the examples before docstrings are parsed."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Fence the examples of one module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(_fenced, obj.docstring.value)


def _fenced(found: re.Match[str]) -> str:
    code = found[0].rstrip("\n").replace(">>> ", "")
    return f"```python\n{code}\n```\n"
