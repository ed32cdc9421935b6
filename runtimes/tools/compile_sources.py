"""Writes the bytecode that sources lack, on several processors, and says what was read and written.

    python -I compile_sources.py '{"places": ["site-packages"], "workers": 2, "report": "folder"}'

`places` are folders and single sources. The bytecode is what `python -m compileall` writes, byte
for byte; a source that cannot be compiled is left. What compileall does around the compiler (a
loader for each file, a temporary name, a second look) takes a tenth of the time. Here a file gets
its header last, so that one that was cut off by a kill is never taken for whole. Each worker leaves
in `report`, when it is done, one list of [path, inode, size, time, executable, sha256] for each
file that it had in its hands, so that nobody has to read 40,000 files again for that. Where there
is a report the workers read all other files of the places for it too: they keep every processor
busy to the end, and whoever comes after them has one to itself.
It prints `TOTAL` and the bytes of all sources when it begins; `DONE` and bytes again and again;
`FAULT` and a number of the system's
with the path of what could not be written, and then it ends; `ENDED` and the signal by which a
worker was ended, whose files lack their bytecode then. Whoever hears that runs it again.
"""

import contextlib
import hashlib
import importlib.util
import json
import marshal
import os
import pathlib
import stat
import sys
import warnings

TAG = f".{sys.implementation.cache_tag}.pyc"
MAGIC = importlib.util.MAGIC_NUMBER
HEADER = 16
BATCH = 8
NUMBER = 4
CHUNK = 1 << 20
BYTES_HASHED = 256
"""About as many bytes are hashed as one of a source is compiled in the same time."""
FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW
NOT_COMPILED = (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError)
"""What the compiler raises on templates, on other versions' syntax and on hostile nesting."""


def listed(places, with_others):
    """Return weight, path and size in bytes of every source in the places, the longest work first.

    `with_others`: of every other file too, but for bytecode. Its size counts as 0: what is compiled
    is what takes the time.
    """
    found = []
    folders = []
    for place in places:
        path = pathlib.Path(place)
        if path.is_dir():
            folders.append(place)
        elif path.is_file():
            found.append(source(place, path.stat().st_size))
    for item in below(folders):
        if item.name.endswith(".py"):
            if item.is_file():
                found.append(source(item.path, item.stat().st_size))
        elif with_others and item.is_file(follow_symlinks=False):
            found.append((item.stat().st_size // BYTES_HASHED, item.path, 0))
    return sorted(found, reverse=True)


def below(folders):
    """Yield what lies in the folders, at any depth, and is no folder and no bytecode."""
    while folders:
        with os.scandir(folders.pop()) as inside:
            for item in inside:
                if not item.is_dir(follow_symlinks=False):
                    yield item
                elif item.name != "__pycache__":
                    folders.append(item.path)


def source(path, size):
    """Return what a list says of a source."""
    return size, path, size


def header_of(found):
    """Return the first bytes of bytecode that goes with a source, as importlib writes them."""
    time = int(found.st_mtime) & 0xFFFFFFFF
    size = found.st_size & 0xFFFFFFFF
    return MAGIC + bytes(4) + time.to_bytes(4, "little") + size.to_bytes(4, "little")


def read(path):
    """Return a source and what it is; None for what is no file that can be read."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            return None
        text = os.read(file, found.st_size + 1)
    except OSError:
        return None
    finally:
        os.close(file)
    return (text, found) if len(text) == found.st_size else None


def is_compiled(target, header):
    """Tell whether there is bytecode that Python would take."""
    try:
        file = os.open(target, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return os.read(file, HEADER) == header
    except OSError:
        return False
    finally:
        os.close(file)


def write(target, header, body, mode):
    """Write bytecode, its header last; return what the file is. Raises: OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        file = os.open(target, flags, mode)
    except FileNotFoundError:
        pathlib.Path(target).parent.mkdir(exist_ok=True)
        file = os.open(target, flags, mode)
    except FileExistsError:  # older, or cut off; it may be a link to another runtime's
        pathlib.Path(target).unlink()
        file = os.open(target, flags, mode)
    try:
        os.lseek(file, HEADER, os.SEEK_SET)
        left = memoryview(body)
        while left:
            left = left[os.write(file, left) :]
        os.pwrite(file, header, 0)
        return os.fstat(file)
    except OSError:
        with contextlib.suppress(OSError):
            pathlib.Path(target).unlink()
        raise
    finally:
        os.close(file)


def row(path, found, digest):
    """Return what the report says of a file."""
    is_executable = bool(found.st_mode & 0o100)
    return [path, found.st_ino, found.st_size, found.st_mtime_ns, is_executable, digest.hexdigest()]


def compiled(path):
    """Compile one source where it has to be; return the rows of both files. Raises: OSError."""
    source = read(path)
    if source is None:
        return []
    text, found = source
    header = header_of(found)
    folder, _slash, name = path.rpartition("/")
    target = f"{folder}/__pycache__/{name[:-3]}{TAG}"
    if is_compiled(target, header):
        return []
    try:
        code = compile(text, path, "exec", dont_inherit=True, optimize=-1)
        body = marshal.dumps(code)  # one that has no name is marshalled in another form
    except NOT_COMPILED:
        return [row(path, found, hashlib.sha256(text))]
    written = write(target, header, body, (found.st_mode | 0o200) & 0o666)
    digest = hashlib.sha256(header)
    digest.update(body)
    return [row(path, found, hashlib.sha256(text)), row(target, written, digest)]


def hashed(path):
    """Read a file that is no source; return its row, or none when it is not there or changes."""
    try:
        file = os.open(path, FLAGS)
    except OSError:
        return []
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            return []
        digest = hashlib.sha256()
        size = 0
        while part := os.read(file, CHUNK):
            digest.update(part)
            size += len(part)
    except OSError:  # a bad sector: whoever needs the file says so
        return []
    finally:
        os.close(file)
    return [row(path, found, digest)] if size == found.st_size else []


def is_text(path):
    """Tell whether a name is valid UTF-8: one that is not would spoil the whole report."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def work(batches, numbers, parent, report):
    """Compile or hash what the pipe of numbers hands out; return 0 when all went well."""
    rows = []
    while number := os.read(numbers, NUMBER):
        batch = batches[int.from_bytes(number, "little")]
        for _weight, path, _size in batch:
            if os.getppid() != parent:  # killed: whoever runs this again must not meet us
                return 1
            try:
                rows += compiled(path) if path.endswith(".py") else hashed(path)
            except OSError as error:
                return fault(error, path)
        if done := sum(size for _weight, _path, size in batch):
            os.write(1, f"DONE {done}\n".encode())
    if report is not None and rows:
        text = json.dumps([one for one in rows if is_text(one[0])])
        said = pathlib.Path(report, f"{os.getpid()}.json")
        try:
            said.write_text(text, encoding="ascii")
        except OSError as error:
            return fault(error, said)
    return 0


def fault(error, path):
    """Say what could not be written; return a worker's status."""
    os.write(1, f"FAULT {error.errno or 0} {error.filename or path}\n".encode())
    return 1


def batched(found):
    """Return the files in batches."""
    return [found[at : at + BATCH] for at in range(0, len(found), BATCH)]


def start(batches, pipe, report):
    """Start a worker; return its process id."""
    parent = os.getpid()
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        numbers, hand_out = pipe
        os.close(hand_out)  # else no worker would see its end
        status = work(batches, numbers, parent, report)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def main():
    """Compile what the first argument asks for."""
    asked = json.loads(sys.argv[1])
    warnings.simplefilter("ignore")
    report = asked.get("report")
    found = listed(asked["places"], report is not None)
    batches = batched(found)
    print("TOTAL", sum(size for _weight, _path, size in found), flush=True)
    numbers, hand_out = pipe = os.pipe()
    count = max(1, min(asked["workers"], len(batches)))
    workers = [start(batches, pipe, report) for _one in range(count)]
    os.close(numbers)
    # Only now: a person with many pipes gets one that holds 1,024 numbers (pipe(7)).
    with contextlib.suppress(BrokenPipeError):  # all workers met a fault, and said so
        for number in range(len(batches)):
            os.write(hand_out, number.to_bytes(NUMBER, "little"))
    os.close(hand_out)
    statuses = [os.waitpid(worker, 0)[1] for worker in workers]
    for signal in {os.WTERMSIG(status) for status in statuses if os.WIFSIGNALED(status)}:
        print("ENDED", signal, flush=True)
    sys.exit(1 if any(statuses) else 0)


if __name__ == "__main__":
    main()
