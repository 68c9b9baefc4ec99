#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""on-terminal.py [-w COLUMNS] PROGRAM [ARGUMENT...]: run it on a terminal.

Standard input, output and error are one terminal of so many columns; what
arrives there is printed, line ends as \\n, and the exit status is that of the
program. One that waits for 20 s is ended: 124.
"""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

args = sys.argv[1:]
columns = 80
if args[0] == "-w":
    columns = int(args[1])
    args = args[2:]
pid, fd = pty.fork()
if pid == 0:
    # the size is there before the program is
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    try:
        os.execvp(args[0], args)
    except OSError as e:
        print(e)
    os._exit(127)
late = time.monotonic() + 20
text = b""
while True:
    if not select.select([fd], [], [], max(0, late - time.monotonic()))[0]:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        sys.exit(124)
    try:
        got = os.read(fd, 65536)
    except OSError:  # EIO: all have closed it
        break
    if not got:
        break
    text += got
sys.stdout.buffer.write(text.replace(b"\r\n", b"\n"))
sys.stdout.flush()
status = os.waitpid(pid, 0)[1]
sys.exit(os.waitstatus_to_exitcode(status) & 255)
