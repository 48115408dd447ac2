"""Become another program that dies with the process that started it: `leash.py SIGNAL PARENT ACCOUNT PROGRAM ...`.

Linux sends SIGNAL when the thread that forked this process ends, by kill -9 of its process as well. ACCOUNT is `-` or
`UID:GID`, or `UID:GID:passage` for one that may read in folders closed to it (a project below /root); it is set
before the signal is asked for, as a change of account clears that wish. Run as a file with `python -I -S`, so that it
needs nothing but the standard library. Elsewhere than on Linux the program is executed without a leash.
"""

import ctypes
import os
import signal
import struct
import sys

PR_SET_PDEATHSIG, PR_SET_KEEPCAPS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 1, 8, 47, 2
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2
CAPABILITY_VERSION_3 = 0x20080522


def prctl(option: int, *arguments: int) -> bool:
    """Ask the kernel to change something about this process; whether it agreed."""
    padded = (*arguments, 0, 0, 0, 0)[:4]
    code: int = ctypes.CDLL(None).prctl(option, *(ctypes.c_ulong(value) for value in padded))
    return code == 0


def take_account(account: str) -> None:
    """Drop every right but those of `account`."""
    uid, gid, *passage = account.split(":")
    os.setgroups([])
    os.setgid(int(gid))
    if passage:
        prctl(PR_SET_KEEPCAPS, 1)
    os.setuid(int(uid))
    if passage:
        keep_passage()


def keep_passage() -> None:
    """Keep, across the change of account and of program, the one right to enter and read what is closed to us."""
    header = struct.pack("Ii", CAPABILITY_VERSION_3, 0)
    for capability in (CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE):
        bit = 1 << capability
        kept = ctypes.CDLL(None).capset(header, struct.pack("6I", bit, bit, bit, 0, 0, 0)) == 0
        if kept and prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability):
            return
    sys.exit("this system does not let root pass on the right to enter closed folders")


def tie_to(parent: int, death_signal: int) -> None:
    """Ask the kernel for `death_signal` when `parent` dies; end now if that has happened already."""
    if sys.platform == "linux":
        prctl(PR_SET_PDEATHSIG, death_signal)
        if os.getppid() != parent:
            sys.exit(1)


def main() -> None:
    """Take the account, tie the leash, forget what Python does with signals, become the program."""
    death_signal, parent, account, *program = sys.argv[1:]
    if account != "-":
        take_account(account)
    tie_to(int(parent), int(death_signal))
    for signum in (signal.SIGINT, signal.SIGPIPE):
        signal.signal(signum, signal.SIG_DFL)
    os.execv(program[0], program)


if __name__ == "__main__":
    main()
