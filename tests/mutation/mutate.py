#!/usr/bin/env python3
"""Does a test notice? Changes one thing in a header, and looks for a test that fails.

    mutate.py --areas algos,topo --sample 200 --jobs 2 --results FILE    goes on where FILE ends
    mutate.py --report FILE…                                             figures, and who survived
    mutate.py --files algos/ring.h --list                                all mutants of a file
    mutate.py --only ID                                                  one of them, with its diff

README.md says more.
"""
import argparse
import collections
import hashlib
import json
import os
import queue
import shutil
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import engine  # noqa: E402
import equivalents  # noqa: E402
import operators  # noqa: E402
import programs  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--areas", help="of %s; comma between them" % ", ".join(programs.AREAS))
    add("--files", help="below include/coll; comma between them")
    add("--operators", help="of %s; comma between them" % ", ".join(operators.OPERATORS))
    add("--sample", type=int, metavar="N", help="so many of them; those of a seed stay the same while their lines do")
    add("--each", type=int, metavar="N", help="so many of each area")
    add("--seed", default="1")
    add("--jobs", type=int, default=1)
    add("--budget", type=float, default=30, metavar="S", help="seconds for one mutant (%(default)s); tests named after its header run in any case")
    add("--results", metavar="FILE", help="a line of JSON for each mutant; those that are there are not tried again")
    add("--again", action="store_true", help="… but for those that survived")
    add("--only", metavar="ID", action="append")
    add("--list", action="store_true")
    add("--report", metavar="FILE", nargs="+")
    add("--check-equivalents", action="store_true", help="each entry of equivalent.txt must match a mutant")
    add("--fail", action="store_true", help="exit code 1 if one survives")
    add("--scratch", default=os.path.join(ROOT, "build", "mutation"), metavar="DIR")
    add("--tree", default=ROOT, metavar="DIR", help="the project, if it is not this one")
    add("--cc", default="gcc")
    options = parser.parse_args()

    known = equivalents.read(os.path.join(options.tree, "tests", "mutation", "equivalent.txt"))
    if options.report:
        return report(options.report, known)
    tree = programs.Tree(snapshot(options.tree, options.scratch))
    if options.check_equivalents:
        return equivalents.check(known, tree)
    chosen = choose(tree, options)
    if options.list:
        for mutant in chosen:
            print(mutant.id)
            print(mutant.diff(), end="")
        print("%d mutants" % len(chosen))
        return 0
    return campaign(tree, chosen, known, options)


def snapshot(root, scratch):
    """A copy of what is compiled, as others may work on the tree meanwhile."""
    place = os.path.join(scratch, "tree%d" % os.getpid())
    shutil.rmtree(place, ignore_errors=True)
    for folder in programs.FOLDERS:
        if os.path.isdir(os.path.join(root, folder)):
            shutil.copytree(os.path.join(root, folder), os.path.join(place, folder))
    return os.path.abspath(place)


def choose(tree, options):
    """The mutants that the options name. A sample takes those whose hashes are least, so that a change elsewhere
    leaves it alone."""
    areas = options.areas.split(",") if options.areas else [a for a in programs.AREAS if a != "rest"]
    unknown = set(areas) - set(programs.AREAS)
    if unknown:
        sys.exit("no area: " + ", ".join(unknown))
    files = options.files.split(",") if options.files else None
    only = set(options.only or ())
    if only:
        files = sorted({name.split(":")[0] for name in only})
    missing = set(files or ()) - set(tree.headers)
    if missing:
        sys.exit("no file below include/coll: " + ", ".join(missing))
    found = []
    for header in files or [h for h in tree.headers if programs.area_of(h) in areas]:
        found += operators.mutants(tree.text("include/coll/" + header), header, tree.types)
    if options.operators:
        found = [m for m in found if m.operator in options.operators.split(",")]
    if only:
        found = [m for m in found if m.id in only]
        for name in only - {m.id for m in found}:
            sys.exit("no mutant " + name)

    def rank(mutant):
        return hashlib.sha1("\0".join((options.seed, mutant.operator) + tuple(map(str, mutant.key()))).encode()).digest()

    if options.sample or options.each:
        found.sort(key=rank)
    if options.each:
        taken = collections.Counter()
        for mutant in found:
            area = programs.area_of(mutant.path)
            taken[area] += 1
            mutant.taken = taken[area] <= options.each
        found = [m for m in found if m.taken]
    return found[:options.sample] if options.sample else found


def campaign(tree, chosen, known, options):
    base = engine.Base(tree, os.path.join(os.path.abspath(options.scratch), "base"), options.cc)
    done = {}
    if options.results and os.path.exists(options.results):
        for line in load([options.results]):
            done[line["id"]] = line
    skip = {name for name, line in done.items() if not (options.again and line["verdict"] == "survived")}
    todo = queue.Queue()
    for mutant in chosen:
        if mutant.id not in skip:
            todo.put(mutant)
    total, lock, results, begin = todo.qsize(), threading.Lock(), [], time.monotonic()
    out = open(options.results, "a", encoding="utf-8") if options.results else None

    def work(number):
        job = engine.Job(base, os.path.join(tree.root, "job%d" % number))
        while True:
            try:
                mutant = todo.get_nowait()
            except queue.Empty:
                return
            line = {"id": mutant.id, "area": programs.area_of(mutant.path), "operator": mutant.operator,
                    "path": mutant.path, "function": mutant.function, "old": mutant.old, "new": mutant.new}
            if equivalents.matches(known, mutant.key()):
                line["verdict"] = "equivalent"
            else:
                try:
                    line.update(job.attempt(mutant, tree.text("include/coll/" + mutant.path), options.budget))
                except RuntimeError as error:
                    line.update({"verdict": "error", "detail": str(error)[:2000]})
            with lock:
                results.append(line)
                if out:
                    out.write(json.dumps(line) + "\n")
                    out.flush()
                print("%d/%d %s %s%s" % (len(results), total, line["id"], line["verdict"],
                                         " by %s (%s) %s" % (line["by"], line["how"], line["detail"])
                                         if line["verdict"] == "killed" else ""))
                if line["verdict"] in ("survived", "error"):
                    print(mutant.diff() + line.get("detail", ""), end="")
                sys.stdout.flush()

    workers = [threading.Thread(target=work, args=(i,)) for i in range(options.jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    shutil.rmtree(tree.root, ignore_errors=True)
    print("%d mutants, %.0f s" % (len(results), time.monotonic() - begin))
    bad = [line for line in results if line["verdict"] in ("survived", "error")]
    return 1 if bad and options.fail else 0


def load(paths):
    """The results; of a mutant that was tried again the last one."""
    found = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in file:
                try:
                    line = json.loads(line)
                except ValueError:
                    continue  # cut short
                found[line["id"]] = line
    return list(found.values())


def report(paths, known):
    lines = load(paths)
    count = collections.defaultdict(collections.Counter)
    cpu, survivors, killers = 0.0, [], collections.Counter()
    for line in lines:
        if line["verdict"] == "survived" and equivalents.matches(
                known, (line["path"], line["function"], line["old"], line["new"])):
            line["verdict"] = "equivalent"
        count[line["area"]][line["verdict"]] += 1
        count["all"][line["verdict"]] += 1
        cpu += line.get("cpu", 0)
        if line["verdict"] in ("survived", "error"):
            survivors.append(line)
        if line["verdict"] == "killed":
            killers["proofs" if line["by"].startswith("proof") else line["by"]] += 1
    print("%-11s %7s %7s %6s %10s %8s %8s  %s" % ("area", "mutants", "invalid", "same", "equivalent", "killed", "survived",
                                                 "of those that differ"))
    for area in list(programs.AREAS) + ["all"]:
        of = count.get(area)
        if of:
            rated = of["killed"] + of["survived"]
            print("%-11s %7d %7d %6d %10d %8d %8d  %5.1f %%" % (
                area, sum(of.values()), of["invalid"], of["same"], of["equivalent"], of["killed"], of["survived"],
                100.0 * of["killed"] / rated if rated else 0))
    print("\n%.1f s of processor a mutant; killed by %s\n" % (
        cpu / max(1, len(lines)), ", ".join("%s %d" % k for k in killers.most_common(12))))
    for line in sorted(survivors, key=lambda l: l["id"]):
        print("%s %s\n@ %s %s\n- %s\n+ %s\n" % (line["id"], line["verdict"], line["path"], line["function"], line["old"],
                                               line["new"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
