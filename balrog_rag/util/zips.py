"""What goes wrong with zip files of others."""

import zipfile
import zlib

BROKEN_ZIP = (zipfile.BadZipFile, RuntimeError, NotImplementedError, zlib.error, EOFError)
"""What zipfile raises for files that are damaged, encrypted (RuntimeError) or packed in an unknown way."""
