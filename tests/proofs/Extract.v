(* tests/proofs/Extract.v — the schedules as a program in OCaml, with its integers for numbers *)
From Coq Require Import List Arith Extraction ExtrOcamlBasic ExtrOcamlNatInt.
From CollProofs Require Import Actions Ring Dissemination Doubling Binomial.

Extract Inlined Constant Nat.ltb => "(<)".
Extract Inlined Constant Nat.leb => "(<=)".
Extract Constant Nat.div => "fun n d -> if d = 0 then 0 else n / d".
Extract Constant Nat.modulo => "fun n d -> if d = 0 then n else n mod d".

Extract Constant Nat.pow => "fun n e -> let rec go r e = if e = 0 then r else go (r * n) (e - 1) in go 1 e".

Definition ring_allgather := Ring.allgather.
Definition ring_allgather_rounds := Ring.allgather_rounds.
Definition ring_reduce_scatter := Ring.reduce_scatter.
Definition ring_reduce_scatter_rounds := Ring.reduce_scatter_rounds.
Definition ring_allreduce := Ring.allreduce.
Definition ring_allreduce_rounds := Ring.allreduce_rounds.
Definition dissemination_barrier := Dissemination.barrier.
Definition dissemination_barrier_rounds := Dissemination.barrier_rounds.
Definition recursive_doubling := Doubling.doubling.
Definition binomial_bcast := Binomial.bcast.
Definition binomial_reduce := Binomial.reduce.

Extraction "schedules.ml" Actions.program Actions.idle
  ring_allgather ring_allgather_rounds ring_reduce_scatter ring_reduce_scatter_rounds
  ring_allreduce ring_allreduce_rounds dissemination_barrier dissemination_barrier_rounds
  recursive_doubling Doubling.core_digits Doubling.core_extra Doubling.doubling_rounds
  binomial_bcast binomial_reduce Binomial.tree_digits Binomial.tree_rounds.
