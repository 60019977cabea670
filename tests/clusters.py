"""A Dask cluster of real processes on this machine, which tests start, disturb and end."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Cluster:
    """A scheduler, and workers that are added to it; all of them end with it."""

    def __init__(self, folder, tls=()):
        self.folder, self.tls = folder, list(tls)
        self.port = free_port()
        self.processes = []
        self.scheduler = self.start_scheduler()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGCONT)
                process.kill()
            process.wait()

    @property
    def address(self):
        return f"{'tls' if self.tls else 'tcp'}://127.0.0.1:{self.port}"

    def _start(self, name, *arguments, **more):
        log = (self.folder / f"{name}.log").open("ab")
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments, *self.tls],
            stdout=log, stderr=log, **{"cwd": self.folder, **more},
        )  # fmt: skip
        log.close()
        self.processes.append(process)
        return process

    def start_scheduler(self):
        process = self._start(
            "scheduler", "scheduler", "--host", "127.0.0.1", "--port", str(self.port),
            "--no-dashboard", "--no-jupyter",
        )  # fmt: skip
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                return process
            assert process.poll() is None, (self.folder / "scheduler.log").read_text()
            time.sleep(0.1)
        raise AssertionError("the scheduler did not start")

    def worker(self, name, path=None, address=None):
        """Start a worker; `path` is where it finds modules before all others."""
        return self._start(
            name, "worker", address or self.address, "--nthreads", "1", "--no-nanny",
            "--name", name, "--no-dashboard", "--local-directory", str(self.folder / "scratch"),
            cwd=path or self.folder,
        )  # fmt: skip


class Proxy:
    """Passes on what goes between two sides, until it is cut."""

    def __init__(self, port):
        self._target, self._sockets = port, []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._threads = []
        self._start(self._accept)

    def _start(self, function, *arguments):
        thread = threading.Thread(target=function, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                one, _ = self._listening.accept()
                self._sockets.append(one)
                other = socket.create_connection(("127.0.0.1", self._target))
                self._sockets.append(other)
                for source, sink in ((one, other), (other, one)):
                    self._start(self._pass, source, sink)

    @staticmethod
    def _pass(source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                sink.sendall(data)
        for each in (source, sink):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def cut(self):
        """End all connections, and let no other in; nothing is left for the collector to close."""
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)  # which wakes who waits for a connection
        self._threads[0].join(10)
        for each in self._sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads[1:]:
            thread.join(10)
        for each in (self._listening, *self._sockets):
            each.close()


def certificates(folder):
    """Make an authority of one's own, and a certificate that it signed."""
    import datetime

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    def name(text):
        return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])

    now = datetime.datetime.now(datetime.UTC)
    keys = {who: ec.generate_private_key(ec.SECP256R1()) for who in ("ca", "cert")}

    def signed(who, *, authority):
        return (
            x509.CertificateBuilder()
            .subject_name(name(who))
            .issuer_name(name("ca"))
            .public_key(keys[who].public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            .sign(keys["ca"], hashes.SHA256())
        )

    pem = serialization.Encoding.PEM
    files = {each: folder / f"{each}.pem" for each in ("ca", "cert", "key")}
    files["ca"].write_bytes(signed("ca", authority=True).public_bytes(pem))
    files["cert"].write_bytes(signed("cert", authority=False).public_bytes(pem))
    files["key"].write_bytes(
        keys["cert"].private_bytes(
            pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return files
