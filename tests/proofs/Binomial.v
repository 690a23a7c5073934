(* tests/proofs/Binomial.v — binomial trees of include/coll/algos/fnomial.h: bcast and reduce, for every p and root

   Ranks are renumbered, v = (r − root) mod p. Round t of a reduction is between numbers 2^t apart, and of a
   broadcast those of a reduction backwards; 2^m ≥ p. *)
From Coq Require Import List Arith Lia Bool Permutation.
From CollProofs Require Import Network Actions.
Import ListNotations.

Definition tree_digits (p : nat) : nat := Nat.log2_up p.
Definition tree_rounds (m : nat) : nat := m + 1.

(* s apart: has v a child there, or its parent? *)
Definition has_child (p s v : nat) : bool := (v mod (s * 2) =? 0) && (v + s <? p).
Definition has_parent (s v : nat) : bool := v mod (s * 2) =? s.

(* ---- bcast -------------------------------------------------------------------------------------------- *)

Definition bcast (p m root r t : nat) : round :=
  let v := minus p r root in
  let s := 2 ^ (m - 1 - t) in
  if t =? m then {| out := None; into := None; own := if v =? 0 then [Copy (Out, 0) (In, 0)] else [] |}
  else if has_child p s v then
    {| out := Some (Send (plus p r s) (if v =? 0 then In else Out, 0)); into := None; own := [] |}
  else if has_parent s v then
    {| out := None; into := Some (Recv (minus p r s) (Out, 0)); own := [] |}
  else idle.
(* IN of the root alone. *)
Definition only_root (root r : nat) : memory :=
  fun c => match c with (In, 0) => if r =? root then Some (Leaf root 0) else None | _ => None end.

(* ---- reduce ------------------------------------------------------------------------------------------- *)

(* The tree's root is `top`: the root, or rank 0 where operands stay in order, which then forwards the sum. *)
Definition sum_at (root top r : nat) : space := if (r =? root) && (r =? top) then Out else Scratch.
Definition held (p root top r v t : nat) : cell :=
  if (t =? 0) || (p <=? v + 1) then (In, 0) else (sum_at root top r, 0).
Definition reduce (p m root top r t : nat) : round :=
  let v := minus p r top in
  let s := 2 ^ t in
  if t =? m then
    if p =? 1 then {| out := None; into := None; own := [Copy (Out, 0) (In, 0)] |}
    else if root =? top then idle
    else if r =? top then {| out := Some (Send root (Scratch, 0)); into := None; own := [] |}
    else if r =? root then {| out := None; into := Some (Recv top (Out, 0)); own := [] |}
    else idle
  else if has_child p s v then
    {| out := None;
       into := Some (RecvReduce (plus p r s) (sum_at root top r, 0) (held p root top r v t)
         (if t =? 0 then (sum_at root top r, 0)
          else (Scratch, t mod 2 + if (r =? root) && (r =? top) then 0 else 1)) false);
       own := [] |}
  else if has_parent s v then
    {| out := Some (Send (minus p r s) (held p root top r v t)); into := None; own := [] |}
  else idle.
Definition operand (r : nat) : memory := fun c => match c with (In, 0) => Some (Leaf r 0) | _ => None end.

(* The sum over numbers v … v+2^t−1, as far as they exist. *)
Fixpoint tree (p top t v : nat) : expression :=
  match t with
  | 0 => Leaf (plus p v top) 0
  | S t => if v + 2 ^ t <? p then Combine (tree p top t v) (tree p top t (v + 2 ^ t)) else tree p top t v
  end.

Lemma tree_ranks p top : forall t v, v < p -> ranks (tree p top t v) =
  map (fun u => plus p u top) (seq v (Nat.min (2 ^ t) (p - v))).
Proof.
  induction t as [|t IH]; intros v L; cbn [tree].
  - cbn [Nat.pow]. rewrite Nat.min_l by lia. reflexivity.
  - rewrite Nat.pow_succ_r'. destruct (Nat.ltb_spec (v + 2 ^ t) p).
    + cbn [ranks]. rewrite !IH by lia. rewrite <- map_app. f_equal.
      replace (Nat.min (2 * 2 ^ t) (p - v)) with (2 ^ t + Nat.min (2 ^ t) (p - (v + 2 ^ t))) by lia.
      rewrite seq_app. f_equal. f_equal. lia.
    + rewrite IH by lia. f_equal. f_equal. lia.
Qed.

(* ---- numbers ---------------------------------------------------------------------------------------------- *)

Lemma halves s v : 0 < s -> v mod (s * 2) = v mod s \/ v mod (s * 2) = v mod s + s.
Proof.
  intros S. rewrite Nat.mod_mul_r by lia. pose proof (Nat.mod_upper_bound (v / s) 2 ltac:(lia)).
  destruct ((v / s) mod 2) as [|[|k]]; lia.
Qed.
Lemma up s v : 0 < s -> v mod (s * 2) = 0 -> (v + s) mod (s * 2) = s.
Proof.
  intros S E. symmetry. apply Nat.mod_unique with (v / (s * 2)); [lia |].
  pose proof (Nat.div_mod v (s * 2) ltac:(lia)). lia.
Qed.
Lemma down s v : 0 < s -> v mod (s * 2) = s -> s <= v /\ (v - s) mod (s * 2) = 0.
Proof.
  intros S E. pose proof (Nat.div_mod v (s * 2) ltac:(lia)). split; [lia |].
  symmetry. apply Nat.mod_unique with (v / (s * 2)); lia.
Qed.
(* A multiple of s is one of 2s, or s more than one. *)
Lemma whole s v : 0 < s -> v mod s = 0 -> v mod (s * 2) = 0 \/ v mod (s * 2) = s.
Proof. intros S E. destruct (halves s v S); lia. Qed.
Lemma part s v : 0 < s -> v mod (s * 2) = 0 \/ v mod (s * 2) = s -> v mod s = 0.
Proof.
  intros S E. pose proof (halves s v S). pose proof (Nat.mod_upper_bound v s ltac:(lia)). lia.
Qed.
Lemma power t : 0 < 2 ^ t.
Proof. apply Nat.neq_0_lt_0, Nat.pow_nonzero. lia. Qed.
Lemma power_next t : 2 ^ S t = 2 ^ t * 2.
Proof. rewrite Nat.pow_succ_r'. lia. Qed.

(* A child has its parent there, and the other way round; nobody has both. *)
Lemma child_is p root r s : r < p -> root < p -> 0 < s -> has_child p s (minus p r root) = true ->
  plus p r s < p /\ minus p (plus p r s) root = minus p r root + s /\ minus p (plus p r s) s = r /\
  has_child p s (minus p (plus p r s) root) = false /\ has_parent s (minus p (plus p r s) root) = true.
Proof.
  intros R T S H. unfold has_child in H. apply andb_prop in H. destruct H as [H1 H2].
  apply Nat.eqb_eq in H1. apply Nat.ltb_lt in H2. pose proof (up s _ S H1) as U.
  assert (minus p (plus p r s) root = minus p r root + s) as V by (clear H1 U; circle).
  repeat split; auto.
  - clear H1 U V. circle.
  - clear H1 U V. circle.
  - unfold has_child. rewrite V, U. destruct (Nat.eqb_spec s 0); [lia | reflexivity].
  - unfold has_parent. rewrite V, U. apply Nat.eqb_refl.
Qed.
Lemma parent_is p root r s : r < p -> root < p -> 0 < s -> has_parent s (minus p r root) = true ->
  minus p r s < p /\ minus p (minus p r s) root + s = minus p r root /\ plus p (minus p r s) s = r /\
  has_child p s (minus p (minus p r s) root) = true.
Proof.
  intros R T S H. unfold has_parent in H. apply Nat.eqb_eq in H. destruct (down s _ S H) as [D1 D2].
  assert (minus p (minus p r s) root = minus p r root - s) as V by (clear H D2; circle).
  assert (minus p r root < p) as W by (clear H D1 D2 V; circle).
  repeat split.
  - clear H D2 V. circle.
  - lia.
  - clear H D2 V. circle.
  - unfold has_child. rewrite V, D2. cbn [Nat.eqb andb]. apply Nat.ltb_lt. lia.
Qed.

Lemma shifted n b d : seq (b + d) n = map (fun u => u + d) (seq b n).
Proof. revert b. induction n as [|n IH]; intros b; simpl; auto. f_equal. apply (IH (S b)). Qed.

(* ---- bcast: proofs -------------------------------------------------------------------------------------- *)

Lemma bcast_matched p m root : root < p -> Matched (bcast p m root) p (tree_rounds m).
Proof.
  intros T t r q kind Ht Hr. unfold bcast, target, source. destruct (Nat.eqb_spec t m); [split; discriminate |].
  pose proof (power (m - 1 - t)) as P. revert P. generalize (2 ^ (m - 1 - t)). intros s P.
  destruct (has_child p s (minus p r root)) eqn:C; [| destruct (has_parent s (minus p r root)) eqn:D];
    cbn [out into idle];
    split; try discriminate; intros E; injection E as <- <-.
  - destruct (child_is p root r s Hr T P C) as (A & B & G & H & I). split; auto. rewrite H, I, G. reflexivity.
  - destruct (parent_is p root r s Hr T P D) as (A & B & G & H). split; auto. rewrite H, G. reflexivity.
Qed.

(* Before round t, whose number is a multiple of 2^(m−t) has the vector. *)
Lemma bcast_holds p m root : root < p -> forall t, t <= m -> forall r, r < p ->
  after (bcast p m root) (only_root root) t r (In, 0) = only_root root r (In, 0) /\
  (minus p r root <> 0 -> minus p r root < 2 ^ m -> minus p r root mod 2 ^ (m - t) = 0 ->
   after (bcast p m root) (only_root root) t r (Out, 0) = Some (Leaf root 0)).
Proof.
  intros T. induction t as [|t IH]; intros Ht r Hr.
  - split; [reflexivity |]. rewrite Nat.sub_0_r. intros N L E. rewrite Nat.mod_small in E by auto. lia.
  - destruct (IH ltac:(lia) r Hr) as [I O].
    assert (forall r, r < p ->
      after (bcast p m root) (only_root root) t r (In, 0) = only_root root r (In, 0) /\
      (minus p r root <> 0 -> minus p r root < 2 ^ m -> minus p r root mod 2 ^ (m - t) = 0 ->
       after (bcast p m root) (only_root root) t r (Out, 0) = Some (Leaf root 0))) as J by (intros; apply IH; auto;
         lia).
    clear IH. into_round bcast. assert (t =? m = false) as -> by (apply Nat.eqb_neq; lia).
    pose proof (power (m - 1 - t)) as P. replace (m - S t) with (m - 1 - t) by lia.
    replace (m - t) with (S (m - 1 - t)) in * by lia. rewrite power_next in *.
    revert P I O J. generalize (2 ^ (m - 1 - t)). intros s P I O J.
    destruct (has_child p s (minus p r root)) eqn:C; [| destruct (has_parent s (minus p r root)) eqn:D]; compute_round.
    + split; auto. intros N L E. apply O; auto. unfold has_child in C. apply andb_prop in C. destruct C as [C _].
      apply Nat.eqb_eq in C. auto.
    + destruct (parent_is p root r s Hr T P D) as (A & B & G & H). rewrite H. compute_round.
      split; [reads; auto |]. intros N L E. rewrite write_same.
      destruct (J _ A) as [J1 J2]. destruct (Nat.eqb_spec (minus p (minus p r s) root) 0) as [Z|Z].
      * rewrite J1. unfold only_root. assert (minus p r s = root) as -> by (clear - Z A T; circle).
        rewrite Nat.eqb_refl. reflexivity.
      * apply J2; auto; [lia |]. unfold has_child in H. apply andb_prop in H. destruct H as [H _]. apply Nat.eqb_eq.
        auto.
    + cbn [idle into own fold_left map]. split; auto. intros N L E. apply O; auto.
      destruct (whole s _ P E) as [W|W]; auto. unfold has_parent in D. rewrite W, Nat.eqb_refl in D. discriminate.
Qed.

(* Every rank has the root's vector. *)
Theorem binomial_bcast : forall p root, root < p ->
  Correct (bcast p (tree_digits p) root) (only_root root) p (tree_rounds (tree_digits p))
    (fun _ m => m (Out, 0) = Some (Leaf root 0)).
Proof.
  intros p root T. apply correct; [apply bcast_matched; auto |]. intros r Hr. unfold tree_rounds.
  assert (p <= 2 ^ tree_digits p) as M by (unfold tree_digits; destruct (le_lt_dec p 1);
    [pose proof (power (Nat.log2_up p)); lia | apply Nat.log2_up_spec; auto]).
  revert M. generalize (tree_digits p). intros m M. replace (m + 1) with (S m) by lia.
  destruct (bcast_holds p m root T m (le_n m) r Hr) as [I O].
  into_round bcast. rewrite Nat.eqb_refl. compute_round.
  destruct (Nat.eqb_spec (minus p r root) 0) as [Z|Z]; compute_round.
  - rewrite write_same, I. unfold only_root. assert (r = root) as -> by (clear - Z Hr T; circle).
    rewrite Nat.eqb_refl. reflexivity.
  - apply O; auto; [clear - M Hr T; circle |]. rewrite Nat.sub_diag. apply Nat.mod_1_r.
Qed.

(* ---- reduce: proofs -------------------------------------------------------------------------------------- *)

Lemma reduce_matched p m root top : root < p -> top < p -> Matched (reduce p m root top) p (tree_rounds m).
Proof.
  intros R T t r q kind Ht Hr. unfold reduce, target, source. destruct (Nat.eqb_spec t m).
  - destruct (Nat.eqb_spec p 1); [split; discriminate |]. destruct (Nat.eqb_spec root top); [split; discriminate |].
    destruct (Nat.eqb_spec r top) as [->|N]; [| destruct (Nat.eqb_spec r root) as [->|N2]]; cbn [out into idle];
      split; try discriminate; intros E; injection E as <- <-; (split; [assumption |]).
    + rewrite Nat.eqb_refl. assert (root =? top = false) as -> by (apply Nat.eqb_neq; auto). reflexivity.
    + rewrite Nat.eqb_refl. reflexivity.
  - pose proof (power t) as P. revert P. generalize (2 ^ t). intros s P.
    destruct (has_child p s (minus p r top)) eqn:C; [| destruct (has_parent s (minus p r top)) eqn:D];
      cbn [out into idle];
      split; try discriminate; intros E; injection E as <- <-.
    + destruct (child_is p top r s Hr T P C) as (A & B & G & H & I). split; auto. rewrite H, I, G. reflexivity.
    + destruct (parent_is p top r s Hr T P D) as (A & B & G & H). split; auto. rewrite H, G. reflexivity.
Qed.

(* Before round t, whose number is a multiple of 2^t has the sum of the 2^t numbers from its own on. *)
Lemma reduce_holds p m root top : top < p -> forall t, t <= m -> forall r, r < p ->
  after (reduce p m root top) operand t r (In, 0) = Some (Leaf r 0) /\
  (minus p r top mod 2 ^ t = 0 ->
   after (reduce p m root top) operand t r (held p root top r (minus p r top) t) =
     Some (tree p top t (minus p r top))).
Proof.
  intros T. induction t as [|t IH]; intros Ht r Hr.
  - split; [reflexivity |]. intros _. unfold held. cbn [Nat.eqb orb tree].
    replace (plus p (minus p r top) top) with r by circle. reflexivity.
  - assert (forall r, r < p ->
      after (reduce p m root top) operand t r (In, 0) = Some (Leaf r 0) /\
      (minus p r top mod 2 ^ t = 0 ->
       after (reduce p m root top) operand t r (held p root top r (minus p r top) t) =
         Some (tree p top t (minus p r top)))) as J by (intros; apply IH; auto; lia).
    clear IH. destruct (J r Hr) as [I O]. into_round reduce. assert (t =? m = false) as -> by (apply Nat.eqb_neq; lia).
    pose proof (power t) as P. rewrite power_next. cbn [tree].
    assert (t = 0 \/ 2 <= 2 ^ t) as Small.
    { destruct t; auto. right. rewrite power_next. pose proof (power t). lia. }
    assert (t = 0 -> 2 ^ t = 1) as One by (intros ->; reflexivity).
    revert P I O J Small One. generalize (2 ^ t). intros s P I O J Small One.
    destruct (has_child p s (minus p r top)) eqn:C; [| destruct (has_parent s (minus p r top)) eqn:D]; compute_round.
    + destruct (child_is p top r s Hr T P C) as (A & B & G & H & K). rewrite H, K. compute_round.
      unfold has_child in C. apply andb_prop in C. destruct C as [C1 C2]. rewrite C2.
      apply Nat.eqb_eq in C1. apply Nat.ltb_lt in C2.
      split.
      * rewrite write_other by (unfold sum_at; destruct ((r =? root) && (r =? top)); discriminate).
        rewrite write_other; auto. destruct (t =? 0); [unfold sum_at; destruct ((r =? root) && (r =? top)) |];
          discriminate.
      * intros _. unfold held at 3. cbn [Nat.eqb orb].
        assert (p <=? minus p r top + 1 = false) as -> by (apply Nat.leb_gt; lia). rewrite write_same.
        destruct (J _ A) as [_ J2]. rewrite J2 by (apply part; auto; right; rewrite B; apply up; auto).
        rewrite O by (apply part; auto). rewrite B. reflexivity.
    + split; auto. intros E. exfalso. unfold has_parent in D. apply Nat.eqb_eq in D. lia.
    + cbn [idle into own fold_left map]. split; auto. intros E. unfold has_child in C. rewrite E in C.
      cbn [Nat.eqb andb] in C.
      rewrite C. apply Nat.ltb_ge in C. rewrite <- O by (apply part; auto). f_equal. unfold held.
      destruct (Nat.eqb_spec t 0) as [Z|Z]; cbn [Nat.eqb orb]; auto. rewrite (One Z) in C.
      assert (p <=? minus p r top + 1 = true) as -> by (apply Nat.leb_le; lia). reflexivity.
Qed.

Lemma reduce_ends p root top : root < p -> top < p ->
  after (reduce p (tree_digits p) root top) operand (tree_rounds (tree_digits p)) root (Out, 0) =
    Some (tree p top (tree_digits p) 0).
Proof.
  intros R T. unfold tree_rounds.
  assert (p <= 2 ^ tree_digits p) as M by (unfold tree_digits; destruct (le_lt_dec p 1);
    [pose proof (power (Nat.log2_up p)); lia | apply Nat.log2_up_spec; auto]).
  revert M. generalize (tree_digits p). intros m M. replace (m + 1) with (S m) by lia.
  destruct (reduce_holds p m root top T m (le_n m) top T) as [I O].
  replace (minus p top top) with 0 in O by circle. rewrite Nat.mod_0_l in O by (pose proof (power m); lia).
  specialize (O eq_refl). unfold held in O. into_round reduce. rewrite Nat.eqb_refl.
  destruct (Nat.eqb_spec p 1) as [P1|P1]; compute_round.
  - assert (root = 0) as -> by lia. assert (top = 0) as -> by lia. subst p. rewrite orb_true_r in O.
    rewrite write_same. exact O.
  - assert (m =? 0 = false) as M0 by (apply Nat.eqb_neq; intros ->; simpl in M; lia). rewrite M0 in O.
    assert (p <=? 0 + 1 = false) as P2 by (apply Nat.leb_gt; lia). rewrite P2 in O. cbn [orb] in O. unfold sum_at in O.
    rewrite Nat.eqb_refl, andb_true_r in O. rewrite (Nat.eqb_sym top root) in O.
    destruct (Nat.eqb_spec root top) as [->|N]; compute_round.
    + exact O.
    + rewrite Nat.eqb_refl. compute_round. rewrite !Nat.eqb_refl. compute_round. rewrite write_same. exact O.
Qed.

Lemma everybody p top : top < p ->
  ranks (tree p top (tree_digits p) 0) = map (fun u => plus p u top) (seq 0 p).
Proof.
  intros T. rewrite tree_ranks by lia. f_equal. f_equal. rewrite Nat.sub_0_r. apply Nat.min_r.
  unfold tree_digits. destruct (le_lt_dec p 1); [pose proof (power (Nat.log2_up p)); lia | apply Nat.log2_up_spec;
    auto].
Qed.

Lemma around_up p top : top < p -> Permutation (map (fun u => plus p u top) (seq 0 p)) (seq 0 p).
Proof.
  intros T. assert (map (fun u => plus p u top) (seq 0 p) = seq top (p - top) ++ seq 0 top) as ->.
  { assert (seq 0 p = seq 0 (p - top) ++ seq (p - top) top) as ->.
    { pose proof (seq_app (p - top) top 0) as S. cbn [Nat.add] in S. rewrite <- S. f_equal. lia. }
    rewrite map_app. f_equal.
    - pose proof (shifted (p - top) 0 top) as S. cbn [Nat.add] in S. rewrite S.
      apply map_ext_in. intros u U. apply in_seq in U. circle.
    - pose proof (shifted top 0 (p - top)) as S. cbn [Nat.add] in S. rewrite S, map_map.
      transitivity (map (fun u => u) (seq 0 top)); [| apply map_id].
      apply map_ext_in. intros u U. apply in_seq in U. circle. }
  assert (seq 0 p = seq 0 top ++ seq top (p - top)) as ->; [| apply Permutation_app_comm].
  pose proof (seq_app top (p - top) 0) as S. cbn [Nat.add] in S. rewrite <- S. f_equal. lia.
Qed.

(* A commutative operator: the root has the sum of all, from the root up around the ring. *)
Theorem binomial_reduce : forall p root, root < p ->
  exists e, ranks e = map (fun u => plus p u root) (seq 0 p) /\ Permutation (ranks e) (seq 0 p) /\
  Correct (reduce p (tree_digits p) root root) operand p (tree_rounds (tree_digits p))
    (fun r m => r = root -> m (Out, 0) = Some e).
Proof.
  intros p root R. exists (tree p root (tree_digits p) 0). rewrite everybody by auto.
  split; [auto |]. split; [apply around_up; auto |]. apply correct; [apply reduce_matched; auto |].
  intros r _ ->. apply reduce_ends; auto.
Qed.

(* Any operator: the root has the sum of all, in the order of ranks. *)
Theorem binomial_reduce_in_order : forall p root, root < p -> exists e, ranks e = seq 0 p /\
  Correct (reduce p (tree_digits p) root 0) operand p (tree_rounds (tree_digits p))
    (fun r m => r = root -> m (Out, 0) = Some e).
Proof.
  intros p root R. exists (tree p 0 (tree_digits p) 0). rewrite everybody by lia. split.
  - transitivity (map (fun u => u) (seq 0 p)); [| apply map_id]. apply map_ext_in. intros u U. apply in_seq in U.
    circle.
  - apply correct; [apply reduce_matched; lia |]. intros r _ ->. apply reduce_ends; lia.
Qed.
