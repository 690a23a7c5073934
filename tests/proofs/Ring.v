(* tests/proofs/Ring.v — include/coll/algos/ring.h: allgather, reduce_scatter, allreduce, for every p *)
From Coq Require Import List Arith Lia Bool Permutation.
From CollProofs Require Import Network Actions.
Import ListNotations.

(* ---- allgather --------------------------------------------------------------------------------- *)

Definition allgather_rounds (p : nat) : nat := if p =? 1 then 1 else p - 1.
Definition allgather (p r t : nat) : round :=
  {| out := if p =? 1 then None
            else Some (Send (plus p r 1) (if t =? 0 then (In, 0) else (Out, minus p r t)));
     into := if p =? 1 then None else Some (Recv (minus p r 1) (Out, minus p r (t + 1)));
     own := if t =? 0 then [Copy (Out, r) (In, 0)] else [] |}.
(* IN is the rank's block. *)
Definition blocks (r : nat) : memory := fun c => match c with (In, 0) => Some (Leaf r 0) | _ => None end.

Lemma allgather_matched p : Matched (allgather p) p (allgather_rounds p).
Proof.
  intros t r q kind Ht Hr. unfold allgather, allgather_rounds, target, source in *. simpl.
  destruct (Nat.eqb_spec p 1); simpl; [split; discriminate |].
  split; intros E; injection E as <- <-; split; try circle; f_equal; f_equal; circle.
Qed.

(* Before round t a rank has its own block and those of the t ranks before it. *)
Lemma allgather_holds p : 2 <= p -> forall t, t <= p - 1 -> forall r, r < p ->
  after (allgather p) blocks t r (In, 0) = Some (Leaf r 0) /\
  forall j, j <= t -> (0 < t) -> after (allgather p) blocks t r (Out, minus p r j) = Some (Leaf (minus p r j) 0).
Proof.
  intros P. induction t as [|t IH]; intros Ht r Hr; [split; [reflexivity | lia] |].
  assert (p =? 1 = false) as P1 by (apply Nat.eqb_neq; lia).
  assert (minus p r 1 < p) as Hq by circle.
  destruct (IH ltac:(lia) r Hr) as [I O]. destruct (IH ltac:(lia) _ Hq) as [I' O']. clear IH.
  into_round allgather. rewrite !P1. compute_round.
  destruct (Nat.eqb_spec t 0) as [->|N]; simpl.
  - split; [reads; auto |]. intros j Hj _. assert (j = 0 \/ j = 1) as [->| ->] by lia.
    + replace (minus p r 0) with r by circle. reads. auto.
    + rewrite write_other by (intros X; injection X; circle). reads. auto.
  - split; [reads; auto |]. intros j Hj _. destruct (Nat.eq_dec j (t + 1)) as [->|Nj].
    + reads. replace (minus p r (t + 1)) with (minus p (minus p r 1) t) by circle. apply O'; lia.
    + rewrite write_other by (intros X; injection X; circle). apply O; lia.
Qed.

(* Every rank has every rank's block. *)
Theorem ring_allgather : forall p, 1 <= p ->
  Correct (allgather p) blocks p (allgather_rounds p)
    (fun _ m => forall b, b < p -> m (Out, b) = Some (Leaf b 0)).
Proof.
  intros p P. apply correct; [apply allgather_matched |]. intros r Hr b Hb. unfold allgather_rounds.
  destruct (Nat.eqb_spec p 1) as [->|N].
  - assert (r = 0) as -> by lia. assert (b = 0) as -> by lia. reflexivity.
  - replace b with (minus p r (minus p r b)) by circle. apply allgather_holds; try lia. circle.
Qed.

(* ---- reduce_scatter_block ------------------------------------------------------------------------ *)

Definition reduce_scatter_rounds (p : nat) : nat := if p =? 1 then 1 else p - 1.
Definition reduce_scatter (p r t : nat) : round :=
  if p =? 1 then {| out := None; into := None; own := [Copy (Out, 0) (In, 0)] |}
  else
    let give := minus p r (t + 1) in
    let take := minus p r (t + 2) in
    let here := if t =? p - 2 then (Out, 0) else (Scratch, t mod 2) in
    {| out := Some (Send (plus p r 1) (if t =? 0 then (In, give) else (Scratch, (t + 1) mod 2)));
       into := Some (RecvReduce (minus p r 1) here (In, take) here false);
       own := [] |}.
(* IN is an operand for each block. *)
Definition operands (r : nat) : memory := fun c => match c with (In, i) => Some (Leaf r i) | _ => None end.

(* r ⊕ (r−1 ⊕ ( … ⊕ r−n)), of block b. *)
Fixpoint chain (p r b n : nat) : expression :=
  match n with 0 => Leaf r b | S n => Combine (Leaf r b) (chain p (minus p r 1) b n) end.

Lemma chain_ranks p b : forall n r, r < p -> n < p -> ranks (chain p r b n) = map (minus p r) (seq 0 (n + 1)).
Proof.
  induction n as [|n IH]; intros r Hr Hn; simpl.
  - f_equal. circle.
  - f_equal; [circle |]. rewrite IH by circle. rewrite <- seq_shift, map_map.
    apply map_ext_in. intros j J. apply in_seq in J. circle.
Qed.
Lemma chain_only p b : forall n r, only b (chain p r b n).
Proof. induction n; simpl; auto. Qed.
(* The whole of a block: every rank's operand, once. *)
Lemma chain_whole p r b : r < p ->
  ranks (chain p r b (p - 1)) = map (minus p r) (seq 0 p) /\ Permutation (ranks (chain p r b (p - 1))) (seq 0 p).
Proof.
  intros Hr. rewrite chain_ranks by lia. replace (p - 1 + 1) with p by lia. split; auto. apply around. auto.
Qed.

Lemma slots_in_turn t : t <> 0 -> (t - 1) mod 2 = (t + 1) mod 2.
Proof.
  intros N. replace (t + 1) with (t - 1 + 1 * 2) by lia. rewrite Nat.mod_add by lia. reflexivity.
Qed.

Lemma reduce_scatter_matched p : Matched (reduce_scatter p) p (reduce_scatter_rounds p).
Proof.
  intros t r q kind Ht Hr. unfold reduce_scatter, reduce_scatter_rounds, target, source in *.
  destruct (Nat.eqb_spec p 1); simpl; [split; discriminate |].
  split; intros E; injection E as <- <-; split; try circle; f_equal; f_equal; circle.
Qed.

(* After round t−1 a rank has the sum over itself and the t ranks before it, of the block of the one before them. *)
Lemma reduce_scatter_holds p : 2 <= p -> forall t, t <= p - 1 -> forall r, r < p ->
  (forall i, after (reduce_scatter p) operands t r (In, i) = Some (Leaf r i)) /\
  (0 < t -> after (reduce_scatter p) operands t r (if t =? p - 1 then (Out, 0) else (Scratch, (t - 1) mod 2)) =
    Some (chain p r (minus p r (t + 1)) t)).
Proof.
  intros P. induction t as [|t IH]; intros Ht r Hr; [split; [reflexivity | lia] |].
  assert (p =? 1 = false) as P1 by (apply Nat.eqb_neq; lia).
  assert (minus p r 1 < p) as Hq by circle.
  destruct (IH ltac:(lia) r Hr) as [I O]. destruct (IH ltac:(lia) _ Hq) as [I' O']. clear IH.
  into_round reduce_scatter. rewrite !P1. compute_round.
  split.
  - intros i. destruct (Nat.eqb_spec t (p - 2)); reads; apply I.
  - intros _. replace (S t =? p - 1) with (t =? p - 2) by (cases; lia || auto).
    replace (S t - 1) with t by lia.
    replace (minus p r (t + 2)) with (minus p r (S (t + 1))) by (f_equal; lia). rewrite I.
    replace (minus p (minus p r 1) (t + 1)) with (minus p r (S (t + 1))) by circle.
    destruct (Nat.eqb_spec t 0) as [->|N].
    + rewrite I'. destruct (0 =? p - 2); reads; reflexivity.
    + assert (t =? p - 1 = false) as N2 by (apply Nat.eqb_neq; lia). rewrite N2 in O'.
      rewrite slots_in_turn in O' by auto. rewrite O' by lia.
      replace (minus p (minus p r 1) (t + 1)) with (minus p r (S (t + 1))) by circle.
      destruct (t =? p - 2); reads; reflexivity.
Qed.

(* Rank r has block r of the sum: of all ranks, from r down to r+1 around the ring. *)
Theorem ring_reduce_scatter : forall p, 1 <= p ->
  Correct (reduce_scatter p) operands p (reduce_scatter_rounds p)
    (fun r m => exists e, m (Out, 0) = Some e /\ only r e /\
      ranks e = map (minus p r) (seq 0 p) /\ Permutation (ranks e) (seq 0 p)).
Proof.
  intros p P. apply correct; [apply reduce_scatter_matched |]. intros r Hr. exists (chain p r r (p - 1)).
  split; [| split; [apply chain_only | apply chain_whole; auto]].
  unfold reduce_scatter_rounds. destruct (Nat.eqb_spec p 1) as [->|N].
  - assert (r = 0) as -> by lia. reflexivity.
  - destruct (reduce_scatter_holds p ltac:(lia) (p - 1) ltac:(lia) r Hr) as [_ O].
    rewrite Nat.eqb_refl in O. rewrite O by lia. replace (minus p r (p - 1 + 1)) with r by circle. reflexivity.
Qed.

(* ---- allreduce ------------------------------------------------------------------------------------- *)

Definition allreduce_rounds (p : nat) : nat := if p =? 1 then 1 else 2 * (p - 1).
Definition allreduce (p r t : nat) : round :=
  if p =? 1 then {| out := None; into := None; own := [Copy (Out, 0) (In, 0)] |}
  else if t <? p - 1 then
    let give := minus p r (t + 1) in
    let take := minus p r (t + 2) in
    {| out := Some (Send (plus p r 1) (if t =? 0 then (In, give) else (Out, give)));
       into := Some (RecvReduce (minus p r 1) (Out, take) (In, take) (Out, take) false); own := [] |}
  else
    {| out := Some (Send (plus p r 1) (Out, minus p r (t - (p - 1))));
       into := Some (Recv (minus p r 1) (Out, minus p r (t - (p - 1) + 1))); own := [] |}.

Lemma allreduce_matched p : Matched (allreduce p) p (allreduce_rounds p).
Proof.
  intros t r q kind Ht Hr. unfold allreduce, allreduce_rounds, target, source in *.
  destruct (Nat.eqb_spec p 1); simpl; [split; discriminate |].
  destruct (Nat.ltb_spec t (p - 1)); simpl;
  split; intros E; injection E as <- <-; split; try circle; f_equal; f_equal; circle.
Qed.

Lemma allreduce_sums p : 2 <= p -> forall t, t <= p - 1 -> forall r, r < p ->
  (forall i, after (allreduce p) operands t r (In, i) = Some (Leaf r i)) /\
  (0 < t -> after (allreduce p) operands t r (Out, minus p r (t + 1)) = Some (chain p r (minus p r (t + 1)) t)).
Proof.
  intros P. induction t as [|t IH]; intros Ht r Hr; [split; [reflexivity | lia] |].
  assert (p =? 1 = false) as P1 by (apply Nat.eqb_neq; lia).
  assert (t <? p - 1 = true) as T1 by (apply Nat.ltb_lt; lia).
  assert (minus p r 1 < p) as Hq by circle.
  destruct (IH ltac:(lia) r Hr) as [I O]. destruct (IH ltac:(lia) _ Hq) as [I' O']. clear IH.
  into_round allreduce. rewrite !P1, !T1. compute_round.
  split.
  - intros i. reads. apply I.
  - intros _. replace (t + 2) with (S (t + 1)) by lia. rewrite I. reads.
    replace (minus p (minus p r 1) (t + 1)) with (minus p r (S (t + 1))) in * by circle.
    destruct (Nat.eqb_spec t 0) as [->|N]; [rewrite I' | rewrite O' by lia]; reflexivity.
Qed.

(* Then the whole blocks travel, block b from rank b on. *)
Lemma allreduce_gathers p : 2 <= p -> forall t, t <= p - 1 -> forall r, r < p -> forall j, j <= t ->
  after (allreduce p) operands (t + (p - 1)) r (Out, minus p r j) =
    Some (chain p (minus p r j) (minus p r j) (p - 1)).
Proof.
  intros P. induction t as [|t IH]; intros Ht r Hr j Hj.
  - destruct (allreduce_sums p P (p - 1) ltac:(lia) r Hr) as [_ O]. replace j with 0 by lia. simpl.
    replace (minus p r (p - 1 + 1)) with r in O by circle. replace (minus p r 0) with r by circle. apply O. lia.
  - assert (p =? 1 = false) as P1 by (apply Nat.eqb_neq; lia).
    assert (t + (p - 1) <? p - 1 = false) as T1 by (apply Nat.ltb_ge; lia).
    assert (minus p r 1 < p) as Hq by circle.
    change (S t + (p - 1)) with (S (t + (p - 1))).
    specialize (IH ltac:(lia)). into_round allreduce. rewrite !P1, !T1. compute_round.
    replace (t + (p - 1) - (p - 1)) with t by lia. destruct (Nat.eq_dec j (t + 1)) as [->|N].
    + reads. rewrite IH by lia. replace (minus p (minus p r 1) t) with (minus p r (t + 1)) by circle. reflexivity.
    + rewrite write_other by (intros X; injection X; circle). apply IH; lia.
Qed.

(* All ranks have the same expressions, block b of all ranks, from b down to b+1 around the ring. *)
Theorem ring_allreduce : forall p, 1 <= p -> exists e : nat -> expression,
  (forall b, b < p -> only b (e b) /\ ranks (e b) = map (minus p b) (seq 0 p) /\ Permutation (ranks (e b)) (seq 0 p)) /\
  Correct (allreduce p) operands p (allreduce_rounds p) (fun _ m => forall b, b < p -> m (Out, b) = Some (e b)).
Proof.
  intros p P. exists (fun b => chain p b b (p - 1)). split.
  - intros b B. split; [apply chain_only | apply chain_whole; auto].
  - apply correct; [apply allreduce_matched |]. intros r Hr b Hb.
    unfold allreduce_rounds. destruct (Nat.eqb_spec p 1) as [->|N].
    + assert (r = 0) as -> by lia. assert (b = 0) as -> by lia. reflexivity.
    + replace (2 * (p - 1)) with (p - 1 + (p - 1)) by lia.
      replace b with (minus p r (minus p r b)) by circle. apply allreduce_gathers; try lia; circle.
Qed.
