#!/bin/sh
# coll select --as: the tables of other libraries are read back, and choose what the rules do for ranks × bytes ×
# collective; requests without meaning are refused.
coll=$COLL_COMMAND
sub=select
. "$(dirname "$0")/run/command.sh"

refuses '--output goes with --as alone' bcast -p 4 --bytes 8 --output "$scratch/x"
refuses '--protocol goes with --as alone' bcast -p 4 --bytes 8 --protocol ll
refuses '--as goes with -p, --non-commutative, --choice, --table, --output and --protocol alone' --as nccl_csv --bytes 8
refuses 'with --as, -p is a number of ranks from 2 to 4096, not 1' --as nccl_csv -p 1
refuses '--protocol is for nccl_csv, not for mpich_json' --as mpich-json --protocol ll
refuses '--non-commutative is for openmpi_rules and openmpi_json: nccl_csv has no such operators' --as nccl-csv --non-commutative
refuses 'there is no format "mpich"; did you mean "mpich_json"?' --as mpich

if ! command -v python3 >/dev/null; then
    [ "${COLL_REQUIRE_ALL:-}" = 1 ] && fail 'python3 is not installed'
    echo 'skipped: python3, which reads the tables, is not installed'
    done_checks
fi
checks=$((checks + 1))
python3 "$(dirname "$0")/run/foreign.py" "$coll" "$scratch" >"$scratch/out" 2>"$scratch/err" ||
    fail 'a table chooses something else than the rules'
cat "$scratch/out"
done_checks
