"""Fixtures of the knowledge tests that studies use as well."""

from tests.knowledge.conftest import own_cache as own_cache
from tests.knowledge.conftest import settings as settings
from tests.knowledge.conftest import some as some
