"""Runs a command on a pseudo-terminal of so many columns: open-pty.py COLUMNS COMMAND...; standard input decides when it ends.

What the command prints goes to standard output as it comes. Each byte of standard input is typed, except lines after an
ASCII SOH (0x01), which change the columns or name a signal for the command.
"""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios


def resize(terminal, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if columns else 0, columns, 0, 0))


def obey(order, terminal, child):
    if order.isdigit():
        resize(terminal, int(order))
        os.kill(child, signal.SIGWINCH)
    else:
        os.kill(child, getattr(signal, order))


def main():
    columns, command = int(sys.argv[1]), sys.argv[2:]
    # Opened here, so that the window has its size before the command looks at it.
    terminal, inner = pty.openpty()
    resize(inner, columns)
    child = os.fork()
    if child == 0:
        login(inner)
        os.execvp(command[0], command)
    os.close(inner)
    inputs, orders = [terminal, 0], b""
    while terminal in inputs:
        for ready in select.select(inputs, [], [])[0]:
            try:
                data = os.read(ready, 65536)
            except OSError:
                data = b""
            if not data:
                inputs.remove(ready)
            elif ready == terminal:
                os.write(1, data)
            else:
                orders += data
        while b"\n" in orders and orders.startswith(b"\x01"):
            order, orders = orders.split(b"\n", 1)
            obey(order[1:].decode(), terminal, child)
        if orders and not orders.startswith(b"\x01"):
            typed, separator, rest = orders.partition(b"\x01")
            os.write(terminal, typed)
            orders = separator + rest
    status = os.waitpid(child, 0)[1]
    sys.exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))


def login(inner):
    os.setsid()
    fcntl.ioctl(inner, termios.TIOCSCTTY, 0)
    for descriptor in (0, 1, 2):
        os.dup2(inner, descriptor)
    os.closerange(3, 256)


main()
