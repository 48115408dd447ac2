"""Become another program that dies with the process that started it.

Called as `supervisor.py SIGNAL PARENT ACCOUNT FOLDER PROGRAM ...`. Linux sends SIGNAL when the thread that forked this
process ends, by kill -9 of its process as well. ACCOUNT is `-` or `UID:GID`; it is set before the signal is asked for,
as a change of account clears that request. FOLDER is `-`, or a folder that this process can enter and the account may
not (a project below /root): it stays open as a descriptor, through which the program reaches it as /proc/self/fd/9.
Run as a file with `python -I -S`, so that it needs nothing but the standard library. Elsewhere than on Linux the
program is executed unsupervised.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
FOLDER_DESCRIPTOR = 9


def prctl(option: int, *arguments: int) -> bool:
    """Ask the kernel to change something about this process; whether it agreed."""
    padded = (*arguments, 0, 0, 0, 0)[:4]
    code: int = ctypes.CDLL(None).prctl(option, *(ctypes.c_ulong(value) for value in padded))
    return code == 0


def take_account(account: str) -> None:
    """Drop every right but those of `account`."""
    uid, gid = map(int, account.split(":"))
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)


def keep_open(folder: str) -> None:
    """Hold the folder open for the program."""
    os.dup2(os.open(folder, os.O_RDONLY | os.O_DIRECTORY), FOLDER_DESCRIPTOR)


def tie_to(parent: int, death_signal: int) -> None:
    """Ask the kernel for `death_signal` when `parent` dies; end now if that has happened already."""
    if sys.platform == "linux":
        prctl(PR_SET_PDEATHSIG, death_signal)
        if os.getppid() != parent:
            sys.exit(1)


def main() -> None:
    """Open the folder, take the account, tie its life to ours, reset the signals, become the program."""
    death_signal, parent, account, folder, *program = sys.argv[1:]
    if folder != "-":
        keep_open(folder)
    if account != "-":
        take_account(account)
    tie_to(int(parent), int(death_signal))
    for signum in (signal.SIGINT, signal.SIGPIPE):
        signal.signal(signum, signal.SIG_DFL)
    os.execv(program[0], program)


if __name__ == "__main__":
    main()
