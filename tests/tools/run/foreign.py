"""Reads the tables of other libraries that coll select --as writes, as those libraries do, and
compares what they choose with coll select. Called by foreign.sh: foreign.py COLL FOLDER."""
import json
import os
import re
import subprocess
import sys

coll, folder = sys.argv[1:]

# Each rule is known by its reason. P: the pairs of names that are expected, by format; no entry
# means that the library's own choice stays.
RULES = [
    ("bcast p ..4 bytes ..<4k binomial", dict(
        mpich="binomial", mpich_i="sched_binomial", openmpi="binomial", ucc="knomial")),
    ("bcast p 4.. bytes ..<64k fnomial:f=4", dict(
        mpich="nb", mpich_i="tsp_tree k=4 tree_type=knomial_1 chunk_size=0", openmpi="knomial",
        ucc="knomial")),
    ("bcast bytes 64k..<1M scatter_allgather:f=2", dict(
        mpich="scatter_recursive_doubling_allgather|scatter_ring_allgather",
        mpich_i="sched_scatter_recursive_doubling_allgather|sched_scatter_ring_allgather",
        openmpi="scatter_allgather", ucc="sag_knomial")),
    ("bcast bytes 1M.. pipeline:segment=64k", dict(
        mpich="nb", mpich_i="tsp_ring chunk_size=65536", openmpi="pipeline segment=65536",
        nccl="ring")),
    ("allreduce bytes ..<2k recursive_doubling", dict(
        mpich="recursive_doubling", mpich_i="sched_recursive_doubling",
        openmpi="recursive_doubling", ucc="knomial", nccl="tree")),
    ("allreduce p 8.. bytes 2k..<64k recursive_multiplying:k=4", dict(
        mpich="nb", mpich_i="tsp_recexch_multiple_buffer k=4", openmpi="recursive_doubling",
        ucc="knomial", nccl="tree")),
    ("allreduce bytes 64k..<1M rabenseifner", dict(
        mpich="reduce_scatter_allgather", mpich_i="sched_reduce_scatter_allgather",
        openmpi="rabenseifner", ucc="sra_knomial", nccl="ring")),
    ("allreduce bytes 1M.. ring", dict(
        mpich="nb", mpich_i="tsp_ring", openmpi="ring", ucc="sra_knomial", nccl="ring")),
    ("reduce p ..6 bytes ..<4k chain:chains=3,segment=1k", dict(
        mpich="nb", mpich_i="tsp_ring chunk_size=1024 buffer_per_child=0",
        openmpi="chain fan=3 segment=1024")),
    ("reduce bytes 4k.. rabenseifner", dict(
        mpich="reduce_scatter_gather", mpich_i="sched_reduce_scatter_gather",
        openmpi="rabenseifner", ucc="srg")),
    ("allgather bytes ..<1k bruck:k=2", dict(
        mpich="brucks", mpich_i="sched_brucks", openmpi="bruck", ucc="bruck", nccl="pat")),
    ("allgather bytes 1k..<16k recursive_doubling", dict(
        mpich="recursive_doubling|brucks", mpich_i="sched_recursive_doubling|sched_brucks",
        openmpi="recursive_doubling", ucc="knomial", nccl="pat")),
    ("allgather bytes 16k.. neighbor_exchange", dict(
        mpich="ring", mpich_i="sched_ring", openmpi="neighbor", ucc="neighbor")),
    ("allgather bytes 16k.. ring", dict(
        mpich="ring", mpich_i="sched_ring", openmpi="ring", ucc="ring", nccl="ring")),
    ("alltoall bytes ..<256 bruck:k=2", dict(
        mpich="brucks", mpich_i="sched_brucks", openmpi="modified_bruck", ucc="bruck")),
    ("alltoall bytes 256..<8k throttled:batch=8", dict(
        mpich="scattered", mpich_i="sched_permuted_sendrecv", openmpi="linear_sync reqs=8")),
    ("alltoall bytes 8k.. pairwise", dict(
        mpich="pairwise", mpich_i="sched_pairwise", openmpi="pairwise", ucc="pairwise")),
    ("reduce_scatter_block bytes ..<64k recursive_halving", dict(
        mpich="recursive_halving", mpich_i="sched_recursive_halving",
        openmpi="recursive_halving", ucc="knomial", nccl="pat")),
    ("reduce_scatter_block bytes 64k.. ring", dict(
        mpich="pairwise", mpich_i="sched_pairwise", ucc="ring", nccl="ring")),
    ("allgatherv bytes ..<2k bruck:k=2", dict(
        mpich="brucks", mpich_i="sched_brucks", openmpi="bruck")),
    ("allgatherv ring", dict(
        mpich="ring", mpich_i="sched_ring", openmpi="ring", ucc="ring")),
    ("barrier p 5.. dissemination", dict(
        mpich="dissemination", mpich_i="sched_recursive_doubling", openmpi="bruck",
        ucc="knomial")),
    ("gather p 8.. binomial", dict(
        mpich="binomial", mpich_i="sched_binomial", openmpi="binomial", ucc="knomial")),
]
RANKS = [2, 3, 4, 5, 6, 7, 8, 12, 16]
BYTES = [0, 8, 255, 256, 1023, 1024, 2047, 2048, 4095, 4096, 8192, 16383, 16384, 65535, 65536,
         1048575, 1048576, 3000000]
TOTAL = {
    "mpich": ["allgather", "allgatherv", "reduce_scatter_block"],
    "openmpi": ["allgather", "alltoall", "gather", "reduce_scatter_block"],
    "ucc": ["allgather", "allgatherv", "alltoall", "gather"],
    "nccl": ["allgather", "reduce_scatter_block"],
}


def run(*arguments):
    done = subprocess.run([coll, "select", *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit("coll select %s: %s" % (" ".join(arguments), done.stderr))
    return done.stdout


table = os.path.join(folder, "rules.table")
with open(table, "w") as file:
    for i, (rule, _) in enumerate(RULES):
        file.write("%s # rule-%d\n" % (rule, i))
text = {form: run("--as", form, "-p", "16", "--table", table)
        for form in ["mpich_json", "openmpi_rules", "openmpi_json", "ucc_scores", "nccl_csv"]}


# ---- readers: what a table chooses for a collective, ranks and bytes; None: its own choice ----
def mpich(tree, collective, p, size, total):
    def holds(key):
        name, relation, value = re.fullmatch(r"([a-z_]+)(<=|<|=)(.*)", key).groups()
        of = {"comm_size": p, "avg_msg_size": size, "total_msg_size": total,
              "collective": collective, "comm_type": "intra", "is_commutative": "yes",
              "is_op_built_in": "yes", "is_block_regular": "yes", "is_sendbuf_inplace": "no",
              "comm_hierarchy": "flat", "count": 1 << 30, "is_node_consecutive": "yes"}[name]
        if relation == "=" and value == "any":
            return True
        if value == "pow2":
            return p & (p - 1) == 0 if name == "comm_size" else False
        if relation == "=":
            return of == value
        return of < int(value) if relation == "<" else of <= int(value)

    while True:
        for key, inside in tree.items():
            if key.startswith("algorithm="):
                name = re.sub("^MPIR_[A-Za-z_]*?_(intra|allcomm)_", "", key[len("algorithm="):])
                return " ".join([name, *inside])
            if holds(key):
                tree = inside
                break
        else:
            sys.exit("MPICH's table has nothing for %s of %d bytes on %d" % (collective, size, p))


NUMBERS = ["allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier",
           "bcast", "exscan", "gather", "gatherv", "reduce", "reduce_scatter",
           "reduce_scatter_block", "scan", "scatter"]


def classic(lines):
    numbers = (int(n) for line in lines.splitlines() for n in line.split("#")[0].split())
    names = [line.split("#")[1].strip() if "#" in line else "" for line in lines.splitlines()]
    tables = {}
    at = 1
    for _ in range(next(numbers)):
        sets = tables[NUMBERS[next(numbers)]] = []
        at += 1
        count = next(numbers)
        at += 1
        for _ in range(count):
            rows = []
            sets.append((next(numbers), rows))
            n = next(numbers)
            at += 2
            for _ in range(n):
                size, number, fan, segment = (next(numbers) for _ in range(4))
                rows.append((size, number, names[at], fan, segment))
                at += 1
            assert rows[0][0] == 0
    assert next(numbers, None) is None
    return tables


def by_classic(tables, collective, p, size):
    found = None
    for least, rows in tables.get(collective, []):
        if least <= p:
            found = rows
    row = [row for row in found or [] if row[0] <= size]
    if not row or row[-1][1] == 0:
        return None
    return row[-1][2] + (" fan=%d" % row[-1][3] if row[-1][3] else "") + (
        " segment=%d" % row[-1][4] if row[-1][4] else "")


def by_json(tables, collective, p, size):
    for entry in tables["collectives"].get(collective, []):
        if not entry["comm_size_min"] <= p <= entry.get("comm_size_max", 1 << 31):
            continue
        for rule in entry["rules"]:
            most = rule["msg_size_max"]
            if rule["msg_size_min"] <= size and (most == "inf" or size <= most):
                return rule["alg"] + "".join(
                    " %s=%d" % (name, rule[key])
                    for key, name in [("faninout", "fan"), ("seg_size", "segment"),
                                      ("reqs", "reqs")] if key in rule)
        return None
    return None


def by_ucc(line, collective, p, size):
    collective = {"reduce_scatter_block": "reduce_scatter"}.get(collective, collective)
    for entry in line.split("#"):
        name, sizes, memory, ranks, score, algorithm = entry.split(":")
        low, high = sizes.split("-")
        least, most = ranks[1:-1].split("-")
        assert memory == "host" and score == "inf"
        if name == collective and int(least) <= p and (most == "inf" or p <= int(most)) and \
                int(low) <= size and (high == "inf" or size < int(high)):
            return algorithm[1:]
    return None


def by_nccl(lines, collective, p, size):
    collective = {"bcast": "broadcast", "reduce_scatter_block": "reducescatter"}.get(
        collective, collective)
    for line in lines.splitlines():
        if line.startswith("#"):
            continue
        name, low, high, algorithm, protocol, *rest = line.split(",")
        assert protocol == "simple" and len(rest) == 5
        if name == collective and int(low) <= size <= int(high) and rest[2] in ("-1", str(p)):
            return algorithm
    return None


# ---- the comparison ---------------------------------------------------------------------------
tree, rows = json.loads(text["mpich_json"]), classic(text["openmpi_rules"])
rules = json.loads(text["openmpi_json"])
assert rules["rule_file_version"] == 3 and rules["module"] == "tuned"
tune = re.match("UCC_TL_UCP_TUNE=(.*)", text["ucc_scores"]).group(1)
own = json.loads(run("--as", "mpich_json", "--choice", "neighbor_alltoall:linear"))
checks = wrong = 0


def expect(what, got, want, p):
    global checks, wrong
    checks += 1
    if want and "|" in want:  # powers of two, others
        want = want.split("|")[0 if p & (p - 1) == 0 else 1]
    if (sorted(got.split()) if got else got) != (sorted(want.split()) if want else want):
        wrong += 1
        print("%s: %s instead of %s" % (what, got, want))


for collective in sorted({rule.split()[0] for rule, _ in RULES}):
    sized = collective != "barrier"
    for p in RANKS:
        for size in BYTES if sized else [0]:
            said = run(collective, "-p", str(p), "--table", table,
                       *(["--bytes", str(size)] if sized else []))
            known = re.search(r"^rule .*# rule-(\d+)$", said, re.M)
            want = RULES[int(known.group(1))][1] if known else {}
            if collective == "allgatherv":  # ours needs packed blocks for bruck; theirs do not
                want = RULES[19 if size < 2048 else 20][1]
            cell = "%s of %d bytes on %d ranks, " % (collective, size, p)
            of = {peer: size * p if collective in TOTAL[peer] else size for peer in TOTAL}
            for key, name in [("mpich", collective), ("mpich_i", "i" + collective)]:
                expect(cell + key, mpich(tree, name, p, size, size * p),
                       want.get(key) or mpich(own, name, p, size, size * p), p)
            open_want = want.get("openmpi")
            expect(cell + "rules", by_classic(rows, collective, p, of["openmpi"]),
                   open_want and open_want.replace(" reqs=8", ""), p)
            expect(cell + "json", by_json(rules, collective, p, of["openmpi"]), open_want, p)
            expect(cell + "ucc", by_ucc(tune, collective, p, of["ucc"]), want.get("ucc"), p)
            expect(cell + "nccl", by_nccl(text["nccl_csv"], collective, p, of["nccl"]),
                   want.get("nccl"), p)
print("%d choices, %d wrong" % (checks, wrong))
sys.exit(wrong > 0)
