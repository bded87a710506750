"""How many files this process may have open at once, sockets among them."""

from contextlib import suppress

ENOUGH = 65_536


def raised_limit() -> int:
    """The limit, after the soft one has been raised as far as it may be and may be wanted."""
    try:
        import resource
    except ImportError:  # no Unix
        return ENOUGH
    kind, infinite = resource.RLIMIT_NOFILE, resource.RLIM_INFINITY
    soft, hard = resource.getrlimit(kind)
    if soft == infinite or soft >= ENOUGH:
        return ENOUGH
    with suppress(ValueError, OSError):  # some systems allow less than they say
        resource.setrlimit(kind, (ENOUGH if hard == infinite else min(hard, ENOUGH), hard))
    return resource.getrlimit(kind)[0]
