"""The limit on files, including sockets, that this process may have open at once."""

from contextlib import suppress

ENOUGH = 65_536


def raised_limit() -> int:
    """Raise the soft limit as far as allowed and useful, and return the limit in force."""
    try:
        import resource
    except ImportError:  # not Unix
        return ENOUGH
    kind, infinite = resource.RLIMIT_NOFILE, resource.RLIM_INFINITY
    soft, hard = resource.getrlimit(kind)
    if soft == infinite or soft >= ENOUGH:
        return ENOUGH
    with suppress(ValueError, OSError):  # some systems allow less than they report
        resource.setrlimit(kind, (ENOUGH if hard == infinite else min(hard, ENOUGH), hard))
    return resource.getrlimit(kind)[0]
