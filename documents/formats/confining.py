"""What a parser's process may do: nearly nothing. The limits are the kernel's, so that native code keeps them too."""

import resource
import signal
import sys
from contextlib import suppress

MIB = 1024 * 1024


def confine(*, memory: int, seconds: int, written: int) -> None:
    """From here on this process has `memory` bytes of addresses and `seconds` of processor time, writes at most
    `written` bytes into any file, starts no process, and opens nothing: no file, no socket. Call it after the imports.
    """
    # Whoever was to end this process at the deadline may have died.
    signal.alarm(seconds + 5)
    limits = {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: written,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NPROC: 0,
        # Only standard input, output and error stay: a socket would be number 3.
        resource.RLIMIT_NOFILE: 3,
    }
    for kind, wanted in limits.items():
        _soft, hard = resource.getrlimit(kind)
        limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        if sys.platform == "linux":
            resource.setrlimit(kind, (limit, limit))
        else:
            # Other kernels refuse some of these: there, what is left and the deadline must do.
            with suppress(ValueError, OSError):
                resource.setrlimit(kind, (limit, limit))
