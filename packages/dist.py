#!/usr/bin/env python3
"""make dist: what a release consists of, the same bytes from the same tree wherever it lies.

  packages/dist.py OUT --command build/coll [--url URL]

OUT/coll-VERSION.tar.xz        the tree
OUT/coll-VERSION.h             one header: coll amalgamate
OUT/coll-VERSION-embedded.zip  for Arduino, PlatformIO and ESP-IDF: a folder coll/
OUT/coll.coll.VERSION.pack     the same as a CMSIS-Pack
OUT/SHA256SUMS                 of those
OUT/packages/                  recipes of package managers, which name URL and the archive's checksum

URL is where these files will lie. Files have the time of the last commit, or in an archive that of config.h.
"""
import argparse
import base64
import hashlib
import io
import os
import re
import shutil
import subprocess
import tarfile
import time
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RECIPES = ("bazel", "meson", "spack", "vcpkg", "xrepo")  # those that download the archive


def read(path):
    with open(os.path.join(ROOT, path), "rb") as file:
        return file.read()


def git(*words):
    if not os.path.exists(os.path.join(ROOT, ".git")):
        return None
    return subprocess.run(("git", "-C", ROOT) + words, check=True, stdout=subprocess.PIPE).stdout.decode()


def tree():
    """All files of the tree: those that git tracks, or, in an archive, all but what is built."""
    listed = git("ls-files", "-z")
    if listed:
        return sorted(path for path in listed.split("\0") if path and os.path.lexists(os.path.join(ROOT, path)))
    found = []
    for folder, folders, files in os.walk(ROOT):
        inner = os.path.relpath(folder, ROOT)
        if inner == ".":
            folders[:] = [name for name in folders if name != "build"]
        folders[:] = [name for name in folders if name != "__pycache__"]
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        found += [os.path.normpath(os.path.join(inner, name)) for name in files + links]
    return sorted(found)


def epoch():
    given = os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct")
    return int(given or os.path.getmtime(os.path.join(ROOT, "include/coll/config.h")))


def write_archive(path, folder, seconds):
    with tarfile.open(path, "w:xz", format=tarfile.GNU_FORMAT, preset=4) as archive:
        for name in tree():
            place = os.path.join(ROOT, name)
            entry = tarfile.TarInfo(folder + "/" + name)
            entry.mtime = seconds
            entry.mode = 0o755 if os.access(place, os.X_OK) else 0o644
            if os.path.islink(place):
                entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, os.readlink(place), 0o777
                archive.addfile(entry)
            else:
                data = read(name)
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))


def write_zip(path, files, seconds):
    with zipfile.ZipFile(path, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, time.gmtime(max(seconds, 315532800))[:6])  # no earlier than 1980
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, files[name])


def filled(text, words, folder=""):
    """@URL@ and its kin replaced; @INTEGRITY path@ is of a file of the same folder."""
    for word, value in words.items():
        text = text.replace(b"@" + word + b"@", value)
    return re.sub(rb"@INTEGRITY ([^@]+)@", lambda m: integrity(read(os.path.join(folder, m[1].decode()))), text)


def integrity(data):
    return b"sha256-" + base64.b64encode(hashlib.sha256(data).digest())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--command", required=True, help="the command coll")
    parser.add_argument("--url", default="https://coll.invalid", help="where the files will lie")
    ask = parser.parse_args()
    version = ".".join(re.findall(r"#define COLL_VERSION_[A-Z]+ (\d+)", read("include/coll/config.h").decode()))
    seconds = epoch()
    out = os.path.abspath(ask.out)
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)

    archive = os.path.join(out, "coll-%s.tar.xz" % version)
    write_archive(archive, "coll-" + version, seconds)
    subprocess.run([os.path.abspath(ask.command), "amalgamate", "--include", os.path.join(ROOT, "include"),
                    "-o", os.path.join(out, "coll-%s.h" % version)], check=True)

    with open(archive, "rb") as file:
        data = file.read()
    words = {b"URL": ask.url.rstrip("/").encode(), b"SHA256": hashlib.sha256(data).hexdigest().encode(),
             b"SHA512": hashlib.sha512(data).hexdigest().encode(), b"INTEGRITY": integrity(data)}

    kit = {"LICENSE": read("LICENSE"), "src/coll.h": read("packages/embedded/coll.h")}
    for name in tree():
        if name.startswith("include/coll/"):
            kit["src" + name[len("include"):]] = read(name)
        elif name.startswith("packages/embedded/") and not name.endswith("/coll.h"):
            kit[name[len("packages/embedded/"):]] = filled(read(name), words)
    write_zip(os.path.join(out, "coll-%s-embedded.zip" % version),
              {"coll/" + name: text for name, text in kit.items()}, seconds)
    kit["coll.coll.pdsc"] = filled(read("packages/cmsis/coll.coll.pdsc"), words)
    write_zip(os.path.join(out, "coll.coll.%s.pack" % version), kit, seconds)

    with open(os.path.join(out, "SHA256SUMS"), "w") as sums:
        for name in sorted(os.listdir(out)):
            if name != "SHA256SUMS":
                with open(os.path.join(out, name), "rb") as file:
                    sums.write("%s  %s\n" % (hashlib.sha256(file.read()).hexdigest(), name))

    for name in tree():
        if name.startswith(tuple("packages/%s/" % recipe for recipe in RECIPES)):
            place = os.path.join(out, name)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "wb") as file:
                file.write(filled(read(name), words, os.path.dirname(name)))


if __name__ == "__main__":
    main()
