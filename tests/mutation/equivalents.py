"""equivalent.txt: mutants that no test can notice, each with its reason.

    @ algos/ring.h coll_i_ring_step
    - the line as it is
    + the line as it would be
    = why nobody can tell
"""
import operators


def read(path):
    """[(file, function, old, new, reason, line)]"""
    found, at, old, new = [], None, None, None
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            sign, rest = line[:2], " ".join(line[2:].split())
            if sign == "@ ":
                at, old, new = tuple(rest.split()), None, None
                if len(at) != 2:
                    raise SystemExit("equivalent.txt:%d: no file and function" % number)
            elif sign == "- ":
                old = rest
            elif sign == "+ ":
                new = rest
            elif sign == "= ":
                if not (at and old is not None and new is not None and rest):
                    raise SystemExit("equivalent.txt:%d: a reason without a mutant" % number)
                found.append(at + (old, new, rest, number))
                new = None
            elif line.strip() and not line.startswith("#"):
                raise SystemExit("equivalent.txt:%d: begins with none of @ - + = #" % number)
    return found


def matches(known, key):
    return any(entry[:4] == tuple(key) for entry in known)


def check(known, tree):
    """Prints the entries that match no mutant; how many, as an exit code."""
    keys, stale = {}, 0
    for path, function, old, new, _, number in known:
        if path not in keys:
            keys[path] = {m.key() for m in operators.mutants(tree.text("include/coll/" + path), path, tree.types)} \
                if path in tree.headers else set()
        if (path, function, old, new) not in keys[path]:
            print("equivalent.txt:%d: no such mutant: %s %s" % (number, path, function))
            stale += 1
    print("%d equivalent mutants, %d of them stale" % (len(known), stale))
    return 1 if stale else 0
