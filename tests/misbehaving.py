"""Subjects that misbehave in one way each, on one stage only: seed 1 at ε = 0.25.

Everywhere else they answer exactly. They write the ids of their processes to the file that
MISBEHAVING_PIDS names, so that a test can see whether all of them are gone.
"""

import ctypes
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time

import numpy as np


def exact(A):
    return A.copy(), np.eye(len(A))


def note(pid):
    with open(os.environ["MISBEHAVING_PIDS"], "a") as file:
        file.write(f"{pid}\n")


def misbehaves(function):
    """Make a subject that answers exactly, but calls the function on the bad stage."""

    def subject(A, rank, *, seed):
        note(os.getpid())
        if seed == 1 and A[0, 1] == 0.25:
            returned = function(A)
            if returned is not None:
                return returned
        return exact(A)

    subject.__name__ = subject.__qualname__ = function.__name__
    return subject


# How processes end.


@misbehaves
def segfault(A):
    print("on thin ice")
    ctypes.string_at(0)


@misbehaves
def abort(A):
    os.abort()


@misbehaves
def killed(A):
    os.kill(os.getpid(), signal.SIGKILL)


@misbehaves
def alarm(A):
    signal.alarm(1)
    time.sleep(100)


@misbehaves
def out_of_cpu_time(A):
    resource.setrlimit(resource.RLIMIT_CPU, (1, 2))
    while True:
        pass


@misbehaves
def exit_3(A):
    os._exit(3)


@misbehaves
def exit_0(A):
    os._exit(0)


@misbehaves
def close_all_files(A):
    os.closerange(0, 256)


@misbehaves
def write_everywhere(A):
    for file in range(3, 64):
        try:
            os.write(file, b"x" * 100)
        except OSError:
            pass


# What is raised.


@misbehaves
def sys_exit(A):
    sys.exit("enough")


@misbehaves
def value_error(A):
    print("working\n" * 100 + "the last line")
    raise ValueError("no luck\nat all")


class Unpicklable(Exception):
    def __init__(self):
        super().__init__("cannot be sent")
        self.payload = threading.Lock(), lambda: 0


@misbehaves
def controls_the_terminal(A):
    print("\x1b[2Jgone\x07")
    raise ValueError("\x1b]0;title\x07[bold]red[/bold]")


@misbehaves
def unpicklable(A):
    raise Unpicklable


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("not telling")


@misbehaves
def unspeakable(A):
    raise Unspeakable


@misbehaves
def base_exception(A):
    raise BaseException("very basic")


@misbehaves
def keyboard_interrupt(A):
    raise KeyboardInterrupt


@misbehaves
def interrupts_itself(A):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)


@misbehaves
def endless_recursion(A):
    def deeper():
        deeper()

    deeper()


@misbehaves
def allocates_without_end(A):
    kept = []
    while True:
        kept.append(np.ones(10**7))


@misbehaves
def iterates_no_more(A):
    raise StopIteration


# What takes too long.


@misbehaves
def hangs(A):
    time.sleep(100)


@misbehaves
def hangs_with_the_lock(A):
    ctypes.PyDLL(None).sleep(100)


@misbehaves
def ignores_signals(A):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(100)


@misbehaves
def hangs_with_a_child(A):
    note(subprocess.Popen(["sleep", "100"]).pid)
    time.sleep(100)


@misbehaves
def prints_for_ever(A):
    while True:
        print("x" * 10**6)


# What is left behind, or changed.


@misbehaves
def leaves_a_child(A):
    note(subprocess.Popen(["sleep", "100"]).pid)


@misbehaves
def leaves_a_daemon(A):
    """Start a child of a child, in a session of its own."""
    code = "sleep 100 >/dev/null 2>&1 & echo $!"
    note(int(subprocess.check_output(["setsid", "sh", "-c", code])))


@misbehaves
def leaves_many_children(A):
    for _ in range(20):
        note(subprocess.Popen(["sleep", "100"]).pid)


@misbehaves
def leaves_a_thread(A):
    threading.Thread(target=time.sleep, args=(100,)).start()


@misbehaves
def comes_back_twice(A):
    note(os.fork() or os.getpid())


@misbehaves
def changes_the_folder(A):
    folder = os.path.join(os.environ["TMPDIR"], "elsewhere")
    os.mkdir(folder)
    os.chdir(folder)
    os.rmdir(folder)


@misbehaves
def closes_standard_output(A):
    sys.stdout.close()
    os.close(2)


@misbehaves
def removes_standard_output(A):
    sys.stdout = sys.stderr = None


@misbehaves
def prints_megabytes(A):
    print("y" * (20 << 20))


@misbehaves
def clears_the_environment(A):
    os.environ.pop("TMPDIR")
    sys.path.clear()
    sys.modules.pop("random")


# What is returned.


@misbehaves
def returns_text(A):
    return "W and H"


@misbehaves
def returns_three(A):
    return (1, 2, 3)


@misbehaves
def returns_wrong_shape(A):
    return A[:1], A


@misbehaves
def returns_nan(A):
    return A * np.nan, A


@misbehaves
def returns_negative(A):
    return -A, -np.eye(len(A))


@misbehaves
def returns_complex(A):
    return A + 1j, np.eye(len(A))


class Stubborn:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no array today")


@misbehaves
def returns_stubborn(A):
    return Stubborn(), A


class Murderous:
    def __array__(self, dtype=None, copy=None):
        os._exit(5)


@misbehaves
def returns_murderous(A):
    return Murderous(), A


@misbehaves
def changes_A(A):
    answer = exact(A)
    A[:] = 7
    return answer


# What is random.


def ignores_its_seed(A, rank, *, seed):
    W, H = exact(A)
    scale = np.diag(np.random.rand(len(A)) + 1)
    return np.linalg.solve(scale, W).clip(0), scale @ H


def random_without_a_seed(A, rank):
    return A * 0 + random.random(), A * 0 + np.random.rand()


def dies_later(A, rank, *, seed):
    """Leave a thread behind that ends the process between two stages, or during the next.

    Once in twenty trials: however slow the machine is, three in a row are not lost to it.
    """
    if seed % 20 == 0 and A[0, 1] == 0:
        threading.Timer(0.01, os._exit, (9,)).start()
    return exact(A)


def talks_and_fails(A, rank, *, seed):
    print(f"this is {seed} at {A[0, 1]}")
    raise ValueError("no luck")


def has_a_helper(A, rank, *, seed):
    """Keep a helper that has left its parent, and crash once in a while."""
    global helper
    if helper is None:
        code = "sleep 100 >/dev/null 2>&1 & echo $!"
        helper = int(subprocess.check_output(["setsid", "sh", "-c", code]))
        note(helper)
    os.kill(helper, 0)  # raises if it is gone
    if seed in (10, 30) and A[0, 1] == 0.25:
        os.abort()
    return exact(A)


helper = None


def iterates_over_a_set(A, rank):
    raise ValueError(" ".join({"one", "two", "three", "four", "five", "six"}))


def hangs_always(A, rank):
    note(os.getpid())
    time.sleep(100)


def crashes_always(A, rank):
    os.abort()


def crashes_on_size_2(A, rank):
    if len(A) == 2:
        os.abort()
    return exact(A)
