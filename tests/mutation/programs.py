"""What can kill a mutant: every test in C below tests/, and proofs of the algorithms of one header.

A program is linked from units, each compiled from one file. Which of them a mutant changes follows from
what they include, and then from their objects: a program whose objects are those of the unchanged tree is
not run.
"""
import hashlib
import os
import re

from source import type_names

AREAS = {
    "algos": r"algos/(?!registry)",
    "topo": r"plan/topo(/|\.h)",
    "executor": r"executor(/|\.h)",
    "verifier": r"lab/verify",
    "calls": r"(comm|neighbor)\.h|comm/",
    "transports": r"transports?(\.h|/)",
    "plans": r"(plan|select|types)\.h|(plan|select)/",
    "rest": r"",
}

# What is compiled; tests include the rules of the MPI layer.
FOLDERS = ("include", "tests", "cmake", "mpi")

# Where the name of a test is not that of the header.
TESTS = {
    r"lab/verify": ["lab/verify", "lab/verify_cases", "lab/verify_memory", "lab/turns"],
    r"lab/verify/nic": ["lab/nic"],
    r"executor": ["executor/" + name for name in ("engine", "engine_faults", "engine_programs", "in_order", "in_order_rows", "pending",
                                                  "engine_calls", "engine_schedule", "schedule")],
    r"transports/node/": ["transports/node/" + name for name in ("copies", "reduction", "failures", "turns", "shared", "streams",
                                                                 "waiting", "world")] +
                         ["transports/threads", "transports/shm", "transports/mixed", "transports/conformance", "comm/comm_tags"],
    r"transports?(\.h|/loopback)": ["transports/loopback", "comm/comm_tags"],
    r"transports/shm": ["transports/shm", "transports/shm_space", "transports/shm_faults", "transports/shm_strange",
                        "transports/shm_leaving", "transports/shm_denied", "transports/conformance"],
    r"transports/conformance": ["transports/conformance"],
    r"comm|neighbor": ["comm/" + name for name in ("comm", "request", "request_args", "request_tags", "comm_tags", "comm_nodes", "comm_failure", "dump")],
    r"plan": ["plan/" + name for name in ("plan", "composite", "compose", "network_group", "placement")],
    r"select": ["select/select", "select/build", "select/nodes"],
}

# What no C++ compiler takes is no mutant.
STRICT = ["-Werror=int-conversion", "-Werror=incompatible-pointer-types", "-Werror=implicit-function-declaration",
          "-Werror=implicit-int", "-Werror=discarded-qualifiers"]
FLAGS = ["-std=gnu11", "-O1", "-pthread", "-DCOLL_ONE_REGISTRY=1", "-Iinclude", "-Itests"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
# All functions of a header, used or not.
WHOLE = ["-fkeep-inline-functions", "-fkeep-static-functions", "-fkeep-static-consts"]

SMALL, LARGE = ["9", "0", "2000000"], ["33", "2", "12000000"]  # of grid.c


def area_of(path):
    return next(area for area, pattern in AREAS.items() if re.match(pattern, path))


# With these a mutant of the verifier must prove as many plans and actions as before.
COUNTED = ["ring", "fnomial", "recursive_multiplying", "bruck_alltoallv", "linear_neighbor", "shm_alltoall", "two_level_exchange"]


class Program:
    """`units`: files below the tree, compiled with `flags`; `name`: for people; `counted`: what it prints must stay
    the same."""

    def __init__(self, name, units, arguments=(), counted=False, flags=()):
        self.name, self.units, self.arguments, self.counted = name, units, list(arguments), counted
        self.flags = list(flags)
        self.always = False  # whatever else was tried

    def sanitized(self):
        return Program(self.name + ", sanitized", self.units, self.arguments, self.counted, SANITIZE)


class Tree:
    """A copy of the project that nobody changes: include/, tests/, cmake/, and rows/, which is written here."""

    def __init__(self, root):
        self.root = root
        self.closures, self.texts = {}, {}
        self.headers = sorted(self._below("include/coll", ".h"))
        self.types = set()
        for header in self.headers:
            self.types |= type_names(self.text("include/coll/" + header))
        self.tests = sorted(t[:-2] for t in self._below("tests", ".c")
                            if not re.match(r"(fuzz|gates|support|mutation|tools/run)/", t))
        self.rows = self._write_rows()

    def _below(self, folder, ending):
        for place, _, files in os.walk(os.path.join(self.root, folder)):
            for file in files:
                if file.endswith(ending):
                    yield os.path.relpath(os.path.join(place, file), os.path.join(self.root, folder))

    def text(self, path):
        if path not in self.texts:
            with open(os.path.join(self.root, path), encoding="utf-8") as file:
                self.texts[path] = file.read()
        return self.texts[path]

    def _write_rows(self):
        """For each header with algorithms of the registry the file that lists them."""
        records = set(re.findall(r"&(coll_\w+(?:\.algorithm)?),", self.text("include/coll/algos/registry.h")))
        names = {record.split(".")[0]: record for record in records}
        rows = {}
        os.makedirs(os.path.join(self.root, "rows"), exist_ok=True)
        for header in self.headers:
            if not header.startswith("algos/"):
                continue
            defined = re.findall(r"^COLL_(?:ALGORITHM|COMPOSITE)\((coll_\w+),",
                                 self.text("include/coll/" + header), re.M)
            defined = [names[d] for d in defined if d in names]
            if defined:
                name = "rows/" + os.path.basename(header)[:-2] + ".c"
                with open(os.path.join(self.root, name), "w", encoding="utf-8") as file:
                    file.write('#include "coll/%s"\n' % header)
                    file.write("extern const coll_algorithm *const mutation_rows[];\n"
                               "extern const size_t mutation_n_rows;\n")
                    file.write("const coll_algorithm *const mutation_rows[] = {%s};\n"
                               % ", ".join("&" + d for d in defined))
                    file.write("const size_t mutation_n_rows = %d;\n" % len(defined))
                rows[header] = name
        return rows

    def includes(self, path):
        folder = os.path.dirname(path)
        for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', self.text(path), re.M):
            for base in (folder, "include", "tests"):
                file = os.path.normpath(os.path.join(base, name))
                if os.path.exists(os.path.join(self.root, file)):
                    yield file
                    break

    def closure(self, path):
        """The files that a file consists of, and how far away each is included."""
        if path not in self.closures:
            distance, todo = {path: 0}, [path]
            for at in todo:
                for file in self.includes(at):
                    if file not in distance:
                        distance[file] = distance[at] + 1
                        todo.append(file)
            self.closures[path] = distance
        return self.closures[path]

    def digest(self, unit, flags):
        whole = hashlib.sha1(" ".join(flags).encode())
        for file in sorted(self.closure(unit)):
            whole.update(file.encode() + b"\0" + self.text(file).encode())
        return whole.hexdigest()[:20]

    def weight(self, unit):
        """What a unit may take to compile, in seconds, before it is known."""
        return sum(len(self.text(f)) for f in self.closure(unit)) / 3e5

    # ---- what may kill a mutant of a header, in order --------------------------------------------

    def _test(self, test):
        unit = "tests/" + test + ".c"
        units = [unit]
        closure = self.closure(unit)
        if "tests/support/prove.h" in closure:
            units.append("tests/support/prove.c")
        if "include/coll/algos/registry.h" in closure or "tests/support/prove.h" in closure:
            units.append("cmake/registry.c")
        return Program(test, units)

    def _proofs(self, path, arguments, most, salt):
        """Proofs of the headers that include this one: the nearest first, and if there are many, some."""
        near = []
        for header, unit in self.rows.items():
            closure = self.closure(unit)
            if "include/coll/" + path in closure:
                chance = hashlib.sha1((salt + header).encode()).hexdigest()
                near.append((closure["include/coll/" + path], chance, header, unit))
        return [Program("proof of %s, p <= %s" % (header, arguments[0]),
                        [unit, "tests/mutation/grid.c"], arguments)
                for _, _, header, unit in sorted(near)[:most]]

    def named(self, path):
        """Tests that are named after a header, or listed for it."""
        stem = path[:-2]
        names = {stem, stem.replace("/", "_"), os.path.dirname(stem)}
        for pattern, tests in TESTS.items():
            if re.match(pattern, path):
                names |= set(tests)
        return names

    def candidates(self, path, salt, cost):
        """All programs, the cheapest and most promising first. `cost(program)`: seconds, measured or guessed."""
        header = "include/coll/" + path
        tests = [t for t in self.tests if header in self._closure_of_test(t)]
        near = self.named(path)
        direct = {t for t in tests if self.closure("tests/" + t + ".c").get(header) == 1}
        if path.startswith("algos/"):  # tests of the headers that include it
            near |= {h[:-2] for h, unit in self.rows.items() if header in self.closure(unit)}
        own = sorted((self._test(t) for t in tests if t in near or t in direct and not t.startswith("lab/sim/")), key=cost)
        for program in own[:8]:
            program.always = True
        rest = sorted((self._test(t) for t in tests if t not in {p.name for p in own}), key=cost)
        if area_of(path) == "verifier":
            counts = [Program("counts of algos/%s.h" % name, ["rows/%s.c" % name, "tests/mutation/grid.c"], SMALL, True)
                      for name in COUNTED if "algos/%s.h" % name in self.rows]
            sanitized = [p.sanitized() for p in own[:4]]
            for program in sanitized[:2]:  # the cheapest: what it reads beyond its memory is right, mostly
                program.always = True
            return own + counts + sanitized + rest
        proofs = re.match(r"algos/|plan|types|comm/arena|executor/window", path)
        small = self._proofs(path, SMALL, 12 if path.startswith("algos/") else 24, salt) if proofs else []
        large = self._proofs(path, LARGE, 4, salt) if proofs else []
        sanitized = [p.sanitized() for p in small[:1] + own[:2]]
        if path.startswith("algos/"):
            waste = [p for p in rest if p.name == "lab/waste"]
            for program in waste:  # what is done in vain is right
                program.always = True
            return small[:3] + own + small[3:] + large + sanitized + waste + [p for p in rest if p not in waste]
        return own + small + sanitized + rest + large

    def _closure_of_test(self, test):
        return {f for unit in self._test(test).units for f in self.closure(unit)}
