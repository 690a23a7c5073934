(* tests/proofs/Doubling.v — recursive doubling of include/coll/algos/recursive_multiplying.h, for every p

   p ranks fold to a core of 2^m, 2^m ≤ p < 2^(m+1): of the first 2(p − 2^m) ranks each even one hands its operand
   to the next, and is handed the result. Round 0 folds, round 1 + i is exchange i, round m + 1 unfolds. *)
From Coq Require Import List Arith Lia Bool Permutation.
From CollProofs Require Import Network Actions.
Import ListNotations.

Section Fold.
Variable extra : nat. (* p − 2^m *)

Definition is_folded (r : nat) : bool := r <? 2 * extra.
Definition is_extra (r : nat) : bool := is_folded r && (r mod 2 =? 0).
(* A rank's number in the core, the rank of a number, the first rank whose operand a number has. *)
Definition number (r : nat) : nat := if is_folded r then r / 2 else r - extra.
Definition rank_of (c : nat) : nat := if c <? extra then 2 * c + 1 else c + extra.
Definition first_of (c : nat) : nat := if c <? extra then 2 * c else c + extra.

Definition sum (m i : nat) : cell := if (m - i) mod 2 =? 0 then (Out, 0) else (Scratch, 0).
Definition sum_of (m i r : nat) : cell := if (i =? 0) && negb (is_folded r) then (In, 0) else sum m i.
Definition digit (i c : nat) : nat := (c / 2 ^ i) mod 2.
Definition partner (i c : nat) : nat := if digit i c =? 0 then c + 2 ^ i else c - 2 ^ i.

Definition doubling (m r t : nat) : round :=
  if t =? 0 then
    if m =? 0 then {| out := None; into := None; own := [Copy (Out, 0) (In, 0)] |}
    else if is_extra r then {| out := Some (Send (r + 1) (In, 0)); into := None; own := [] |}
    else if is_folded r then
      {| out := None; into := Some (RecvReduce (r - 1) (sum m 0) (In, 0) (sum m 0) true); own := [] |}
    else idle
  else if t <=? m then
    if is_extra r then idle
    else
      let i := t - 1 in
      let peer := rank_of (partner i (number r)) in
      {| out := Some (Send peer (sum_of m i r));
         into := Some (RecvReduce peer (sum m t) (sum_of m i r) (sum m t) (digit i (number r) =? 1)); own := [] |}
  else
    if is_extra r then {| out := None; into := Some (Recv (r + 1) (Out, 0)); own := [] |}
    else if is_folded r then {| out := Some (Send (r - 1) (Out, 0)); into := None; own := [] |}
    else idle.

(* What the numbers c·2^i … (c+1)·2^i − 1 have, in their order. *)
Fixpoint tree (i c : nat) : expression :=
  match i with
  | 0 => if c <? extra then Combine (Leaf (2 * c) 0) (Leaf (2 * c + 1) 0) else Leaf (c + extra) 0
  | S i => Combine (tree i (2 * c)) (tree i (2 * c + 1))
  end.
End Fold.

Definition operand (r : nat) : memory := fun c => match c with (In, 0) => Some (Leaf r 0) | _ => None end.
Definition doubling_rounds (m : nat) : nat := m + 2.
Definition core_digits (p : nat) : nat := Nat.log2 p.
Definition core_extra (p : nat) : nat := p - 2 ^ core_digits p.

(* ---- the order of operands ---------------------------------------------------------------------------- *)

Lemma first_of_grows e a b : a <= b -> first_of e a <= first_of e b.
Proof. unfold first_of. cases; lia. Qed.

Lemma tree_ranks e : forall i c,
  ranks (tree e i c) = seq (first_of e (c * 2 ^ i)) (first_of e ((c + 1) * 2 ^ i) - first_of e (c * 2 ^ i)).
Proof.
  induction i as [|i IH]; intros c.
  - cbn [Nat.pow]. rewrite !Nat.mul_1_r. unfold first_of. cbn [tree].
    destruct (Nat.ltb_spec c e); destruct (Nat.ltb_spec (c + 1) e); try lia.
    + replace (2 * (c + 1) - 2 * c) with 2 by lia. cbn [ranks app seq]. repeat f_equal; lia.
    + replace (c + 1 + e - 2 * c) with 2 by lia. cbn [ranks app seq]. repeat f_equal; lia.
    + replace (c + 1 + e - (c + e)) with 1 by lia. reflexivity.
  - cbn [tree ranks]. rewrite !IH, Nat.pow_succ_r'.
    replace (2 * c * 2 ^ i) with (c * (2 * 2 ^ i)) by (rewrite Nat.mul_assoc, (Nat.mul_comm c 2); reflexivity).
    replace ((2 * c + 1 + 1) * 2 ^ i) with ((c + 1) * (2 * 2 ^ i))
      by (rewrite Nat.mul_assoc; f_equal; lia).
    assert (c * (2 * 2 ^ i) <= (2 * c + 1) * 2 ^ i) as L1
      by (rewrite Nat.mul_assoc; apply Nat.mul_le_mono_r; lia).
    assert ((2 * c + 1) * 2 ^ i <= (c + 1) * (2 * 2 ^ i)) as L2
      by (rewrite (Nat.mul_assoc (c + 1)); apply Nat.mul_le_mono_r; lia).
    apply (first_of_grows e) in L1. apply (first_of_grows e) in L2. revert L1 L2.
    generalize (first_of e (c * (2 * 2 ^ i))) (first_of e ((2 * c + 1) * 2 ^ i)) (first_of e ((c + 1) * (2 * 2 ^ i))).
    intros x y z L1 L2. replace (z - x) with ((y - x) + (z - y)) by lia. rewrite seq_app.
    replace (x + (y - x)) with y by lia. reflexivity.
Qed.

(* ---- numbers and partners ------------------------------------------------------------------------------- *)

Lemma half r : r mod 2 = 0 /\ r = 2 * (r / 2) \/ r mod 2 = 1 /\ r = 2 * (r / 2) + 1.
Proof.
  pose proof (Nat.div_mod r 2 ltac:(lia)). pose proof (Nat.mod_upper_bound r 2 ltac:(lia)). lia.
Qed.

Lemma rank_of_number e r : is_extra e r = false -> rank_of e (number e r) = r.
Proof.
  unfold is_extra, number, rank_of, is_folded. intros X.
  destruct (half r) as [[A B]|[A B]]; rewrite A in X; cbn [Nat.eqb] in X.
  - rewrite andb_true_r in X. rewrite X. apply Nat.ltb_ge in X. cases; lia.
  - destruct (Nat.ltb_spec r (2 * e)); cases; lia.
Qed.

Lemma number_of_rank e c : number e (rank_of e c) = c /\ is_extra e (rank_of e c) = false.
Proof.
  unfold rank_of, number, is_extra, is_folded. destruct (Nat.ltb_spec c e).
  - destruct (half (2 * c + 1)) as [[A B]|[A B]]; [lia |]. rewrite A. simpl (1 =? 0). rewrite andb_false_r.
    split; auto. cases; lia.
  - assert (c + e <? 2 * e = false) as -> by (apply Nat.ltb_ge; lia). split; auto. lia.
Qed.

Section Core.
Variables (p m : nat).
Hypothesis least : 2 ^ m <= p.
Hypothesis most : p < 2 * 2 ^ m.
Let e := p - 2 ^ m.

Lemma number_below r : r < p -> is_extra e r = false -> number e r < 2 ^ m.
Proof.
  unfold is_extra, number, is_folded. subst e. intros L X. destruct (Nat.ltb_spec r (2 * (p - 2 ^ m))).
  - destruct (half r); lia.
  - lia.
Qed.

Lemma rank_below c : c < 2 ^ m -> rank_of e c < p.
Proof. unfold rank_of. subst e. intros L. cases; lia. Qed.

(* A partner is in the core, has the other digit, and the same digits above. *)
Lemma partner_is i c : i < m -> c < 2 ^ m ->
  partner i c < 2 ^ m /\ partner i (partner i c) = c /\
  (digit i c = 0 /\ digit i (partner i c) = 1 /\
     c / 2 ^ i = 2 * (c / 2 ^ (i + 1)) /\ partner i c / 2 ^ i = 2 * (c / 2 ^ (i + 1)) + 1 \/
   digit i c = 1 /\ digit i (partner i c) = 0 /\
     c / 2 ^ i = 2 * (c / 2 ^ (i + 1)) + 1 /\ partner i c / 2 ^ i = 2 * (c / 2 ^ (i + 1))).
Proof.
  intros Hi Hc. assert (c / 2 ^ (i + 1) = c / 2 ^ i / 2) as ->.
  { rewrite Nat.div_div by (try apply Nat.pow_nonzero; lia). f_equal. rewrite Nat.pow_add_r. reflexivity. }
  assert (2 ^ m = 2 * 2 ^ (m - i - 1) * 2 ^ i) as E.
  { rewrite <- Nat.mul_assoc, <- Nat.pow_add_r, <- Nat.pow_succ_r'. f_equal. lia. }
  assert (2 ^ i <> 0) as Z by (apply Nat.pow_nonzero; lia).
  pose proof (Nat.div_mod c (2 ^ i) Z) as D. pose proof (Nat.mod_upper_bound c (2 ^ i) Z) as B.
  rewrite E in *. revert D B Z Hc. unfold partner, digit. generalize (2 ^ i) (2 ^ (m - i - 1)). intros w k D B Z Hc.
  assert (c / w < 2 * k) as A by (apply Nat.div_lt_upper_bound; auto; rewrite Nat.mul_comm; auto).
  assert (forall x, (x + w) / w = x / w + 1) as Up.
  { intros x. replace (x + w) with (x + 1 * w) by lia. rewrite Nat.div_add; auto. }
  destruct (half (c / w)) as [[P H]|[P H]]; rewrite P; cbn [Nat.eqb].
  - assert ((c / w + 1) mod 2 = 1) as P1.
    { destruct (half (c / w + 1)) as [[? ?]|[? ?]]; lia. }
    rewrite Up, P1. cbn [Nat.eqb]. replace (c + w - w) with c by lia. split; [| split; [auto | left; lia]].
    assert (c / w + 2 <= 2 * k) as A2 by lia. apply (Nat.mul_le_mono_r _ _ w) in A2.
    rewrite Nat.mul_add_distr_r in A2. rewrite (Nat.mul_comm (c / w)) in A2. lia.
  - assert (w <= c) as L by (rewrite D; destruct (c / w); [lia |]; rewrite Nat.mul_succ_r; lia).
    pose proof (Up (c - w)) as Down. replace (c - w + w) with c in Down by lia.
    assert (((c - w) / w) mod 2 = 0) as P1.
    { destruct (half ((c - w) / w)) as [[? ?]|[? ?]]; lia. }
    rewrite P1. cbn [Nat.eqb]. split; [lia | split; [lia | right; lia]].
Qed.

Lemma folds r : r < p -> m <> 0 ->
  (is_extra e r = true -> r + 1 < p /\ is_extra e (r + 1) = false /\ is_folded e (r + 1) = true) /\
  (is_extra e r = false -> is_folded e r = true -> 1 <= r /\ is_extra e (r - 1) = true /\ r mod 2 = 1).
Proof.
  intros L N. unfold is_extra, is_folded. subst e. split.
  - intros X. apply andb_prop in X. destruct X as [X1 X2]. apply Nat.ltb_lt in X1. apply Nat.eqb_eq in X2.
    destruct (half r) as [[A B]|[A B]]; [| lia]. destruct (half (r + 1)) as [[A' B']|[A' B']]; [lia |]. rewrite A'.
    rewrite andb_false_r. repeat split; try lia. apply Nat.ltb_lt. lia.
  - intros X F. rewrite F in X. cbn [andb] in X. apply Nat.eqb_neq in X. apply Nat.ltb_lt in F.
    destruct (half r) as [[A B]|[A B]]; [lia |]. repeat split; try lia.
    destruct (half (r - 1)) as [[A' B']|[A' B']]; [| lia]. rewrite A'. apply andb_true_intro. split; auto.
    apply Nat.ltb_lt. lia.
Qed.

Lemma doubling_matched : Matched (doubling e m) p (doubling_rounds m).
Proof.
  intros t r q kind Ht Hr. unfold doubling_rounds in Ht. unfold doubling, target, source.
  destruct (Nat.eqb_spec t 0) as [->|T0].
  - destruct (Nat.eqb_spec m 0) as [M0|M0]; [split; discriminate |]. destruct (folds r Hr M0) as [F1 F2].
    destruct (is_extra e r) eqn:X; [| destruct (is_folded e r) eqn:Y]; cbn [out into idle]; split; try discriminate;
      intros E; injection E as <- <-.
    + destruct (F1 eq_refl) as (A & B & C). split; auto. rewrite B, C. cbn [into]. repeat f_equal. lia.
    + destruct (F2 eq_refl eq_refl) as (A & B & C). split; [lia |]. rewrite B. cbn [out]. repeat f_equal. lia.
  - destruct (Nat.leb_spec t m) as [Tm|Tm].
    + destruct (is_extra e r) eqn:X; [split; discriminate |]. cbn [out into].
      pose proof (partner_is (t - 1) _ ltac:(lia) (number_below r Hr X)) as (P1 & P2 & _).
      destruct (number_of_rank e (partner (t - 1) (number e r))) as [N1 N2].
      split; intros E; injection E as <- <-; (split; [apply rank_below; auto |]); rewrite N2, N1, P2, rank_of_number;
        auto.
    + destruct (Nat.eq_dec m 0) as [M0|M0].
      { assert (e = 0) as E0 by (subst e; rewrite M0 in *; simpl in *; lia).
        unfold is_extra, is_folded. rewrite E0. cbn. split; discriminate. }
      destruct (folds r Hr M0) as [F1 F2].
      destruct (is_extra e r) eqn:X; [| destruct (is_folded e r) eqn:Y]; cbn [out into idle]; split; try discriminate;
        intros E; injection E as <- <-.
      * destruct (F1 eq_refl) as (A & B & C). split; auto. rewrite B, C. cbn [out]. repeat f_equal. lia.
      * destruct (F2 eq_refl eq_refl) as (A & B & C). split; [lia |]. rewrite B. cbn [into]. repeat f_equal. lia.
Qed.

(* ---- what is summed --------------------------------------------------------------------------------------- *)

Lemma sums_apart i r : i < m -> sum_of e m i r <> sum m (i + 1).
Proof.
  intros L. unfold sum_of, sum. destruct ((i =? 0) && negb (is_folded e r)).
  - destruct ((m - (i + 1)) mod 2 =? 0); discriminate.
  - destruct (half (m - i)) as [[A ?]|[A ?]], (half (m - (i + 1))) as [[B ?]|[B ?]]; rewrite A, B; try discriminate;
      lia.
Qed.
Lemma sum_is_no_input i : sum m i <> (In, 0).
Proof. unfold sum. destruct ((m - i) mod 2 =? 0); discriminate. Qed.

Lemma doubling_sums : m <> 0 -> forall i, i <= m -> forall r, r < p -> is_extra e r = false ->
  after (doubling e m) operand (i + 1) r (sum_of e m i r) = Some (tree e i (number e r / 2 ^ i)).
Proof.
  intros M0. induction i as [|i IH]; intros Hi r Hr X.
  - simpl (0 + 1). rewrite after_step. unfold doubling. cbn [Nat.eqb].
    assert (m =? 0 = false) as -> by (apply Nat.eqb_neq; auto). rewrite X. cbn [Nat.pow]. rewrite Nat.div_1_r.
    unfold sum_of. cbn [Nat.eqb andb].
    destruct (folds r Hr M0) as [_ F2]. destruct (is_folded e r) eqn:Y.
    + destruct (F2 X eq_refl) as (A & B & C). compute_round. rewrite B. compute_round. cbn [negb].
      rewrite write_same. unfold number. rewrite Y. unfold is_folded in Y. apply Nat.ltb_lt in Y.
      destruct (half r) as [[? H]|[? H]]; [lia |]. cbn [tree].
      assert (r / 2 <? e = true) as -> by (apply Nat.ltb_lt; lia).
      replace (2 * (r / 2)) with (r - 1) by lia. replace (r - 1 + 1) with r by lia. reflexivity.
    + compute_round. cbn [negb idle into own fold_left map]. unfold number. rewrite Y. unfold is_folded in Y.
      apply Nat.ltb_ge in Y. cbn [tree]. assert (r - e <? e = false) as -> by (apply Nat.ltb_ge; lia).
      replace (r - e + e) with r by lia. reflexivity.
  - pose proof (number_below r Hr X) as Nb.
    destruct (partner_is i _ ltac:(lia) Nb) as (P1 & P2 & P3).
    destruct (number_of_rank e (partner i (number e r))) as [N1 N2].
    pose proof (IH ltac:(lia) r Hr X) as Mine.
    pose proof (IH ltac:(lia) _ (rank_below _ P1) N2) as Theirs. rewrite N1 in Theirs. clear IH.
    replace (S i + 1) with (S (i + 1)) by lia. into_round doubling.
    assert (i + 1 =? 0 = false) as -> by (apply Nat.eqb_neq; lia).
    assert (i + 1 <=? m = true) as -> by (apply Nat.leb_le; lia).
    replace (i + 1 - 1) with i by lia. rewrite X. compute_round. rewrite N2. compute_round.
    replace (S i) with (i + 1) by lia.
    replace (sum_of e m (i + 1) r) with (sum m (i + 1)) by (unfold sum_of; destruct i; reflexivity).
    rewrite write_same, Theirs, Mine.
    assert (forall c, tree e (i + 1) c = Combine (tree e i (2 * c)) (tree e i (2 * c + 1))) as T
      by (replace (i + 1) with (S i) by lia; reflexivity).
    rewrite T. destruct P3 as [(D1 & D2 & Q1 & Q2)|(D1 & D2 & Q1 & Q2)]; rewrite D1, Q1, Q2; reflexivity.
Qed.

Lemma doubling_ends r : r < p -> after (doubling e m) operand (doubling_rounds m) r (Out, 0) = Some (tree e m 0).
Proof.
  intros Hr. unfold doubling_rounds. destruct (Nat.eq_dec m 0) as [M0|M0].
  - assert (e = 0) as E0 by (subst e; rewrite M0 in *; simpl in *; lia). clearbody e. subst m e. simpl in *.
    assert (r = 0) as -> by lia. reflexivity.
  - assert (forall q, q < p -> is_extra e q = false ->
      after (doubling e m) operand (m + 1) q (Out, 0) = Some (tree e m 0)) as Core.
    { intros q Hq X. pose proof (doubling_sums M0 m (le_n m) q Hq X) as S.
      rewrite Nat.div_small in S by (apply number_below; auto). rewrite <- S. f_equal. unfold sum_of, sum.
      assert (m =? 0 = false) as -> by (apply Nat.eqb_neq; auto). rewrite Nat.sub_diag. reflexivity. }
    replace (m + 2) with (S (m + 1)) by lia. destruct (folds r Hr M0) as [F1 _].
    into_round doubling. assert (m + 1 =? 0 = false) as -> by (apply Nat.eqb_neq; lia).
    assert (m + 1 <=? m = false) as -> by (apply Nat.leb_gt; lia).
    destruct (is_extra e r) eqn:X; [| destruct (is_folded e r) eqn:Y]; compute_round.
    + destruct (F1 eq_refl) as (A & B & C). rewrite B, C. compute_round. rewrite write_same. apply Core; auto.
    + apply Core; auto.
    + apply Core; auto.
Qed.

Lemma doubling_everybody : ranks (tree e m 0) = seq 0 p.
Proof.
  rewrite tree_ranks. unfold first_of. subst e. rewrite Nat.mul_0_l, Nat.mul_1_l. f_equal; cases; lia.
Qed.
End Core.

(* All ranks have the same expression, with each operand once, in the order of ranks. *)
Theorem recursive_doubling_allreduce : forall p, 1 <= p -> exists e, ranks e = seq 0 p /\
  Correct (doubling (core_extra p) (core_digits p)) operand p (doubling_rounds (core_digits p))
    (fun _ m => m (Out, 0) = Some e).
Proof.
  intros p P. destruct (Nat.log2_spec p ltac:(lia)) as [A B]. fold (core_digits p) in A, B.
  rewrite Nat.pow_succ_r' in B. exists (tree (core_extra p) (core_digits p) 0).
  split; [apply doubling_everybody; auto |]. apply correct; [apply doubling_matched; auto |].
  intros r Hr. apply doubling_ends; auto.
Qed.
