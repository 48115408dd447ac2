"""Become another program that dies with the process that started it: `leash.py SIGNAL PARENT ACCOUNT PROGRAM ...`.

Linux sends SIGNAL when the thread that forked this process ends, by kill -9 of its process as well. ACCOUNT is
`UID:GID` or `-`; it is set before the signal is asked for, as a change of account clears that wish. Run as a file with
`python -I -S` so that it needs nothing but the standard library. Elsewhere than on Linux it only executes the program.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def take_account(account: str) -> None:
    """Drop every right but those of `account` (`UID:GID`, or `-` to stay as we are)."""
    if account == "-":
        return
    uid, gid = (int(part) for part in account.split(":"))
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)


def tie_to(parent: int, death_signal: int) -> None:
    """Ask the kernel for `death_signal` when `parent` dies; end now if that has happened already."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
        if os.getppid() != parent:
            sys.exit(1)


def main() -> None:
    """Take the account, tie the leash, become the program."""
    death_signal, parent, account, *program = sys.argv[1:]
    take_account(account)
    tie_to(int(parent), int(death_signal))
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.execv(program[0], program)


if __name__ == "__main__":
    main()
