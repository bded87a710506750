"""Errors of untrusted zip files."""

import zipfile
import zlib

BROKEN_ZIP = (zipfile.BadZipFile, RuntimeError, NotImplementedError, zlib.error, EOFError)
"""Exceptions of zipfile for damaged, encrypted (RuntimeError) or unsupported archives."""
