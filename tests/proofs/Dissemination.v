(* tests/proofs/Dissemination.v — include/coll/algos/dissemination.h: barrier, for every p and every f *)
From Coq Require Import List Arith Lia Bool Permutation.
From CollProofs Require Import Network Actions.
Import ListNotations.

(* Step s is in phase s / (f−1), of this stride; the steps before the phase. *)
Definition stride (f s : nat) : nat := f ^ (s / (f - 1)).
Definition first (f s : nat) : nat := s / (f - 1) * (f - 1).
Definition distance (f s : nat) : nat := (s - first f s + 1) * stride f s.

(* The steps whose distance is below p. *)
Fixpoint count_steps (f p s fuel : nat) : nat :=
  match fuel with 0 => s | S n => if distance f s <? p then count_steps f p (S s) n else s end.
Definition barrier_rounds (f p : nat) : nat := count_steps f p 0 p.

Definition barrier (f p r s : nat) : round :=
  {| out := Some (Notify (plus p r (distance f s)) (Scratch, 0) (first f s + 1));
     into := Some (Await (minus p r (distance f s)) (Scratch, 1 + s));
     own := [] |}.
Definition arrival (r : nat) : memory := fun c => match c with (Scratch, 0) => Some (Leaf r 0) | _ => None end.

(* ---- distances ------------------------------------------------------------------------------------ *)

Lemma place f s : 2 <= f -> exists i e, e < f - 1 /\ s = (f - 1) * i + e /\ s / (f - 1) = i /\ s mod (f - 1) = e.
Proof.
  intros F. exists (s / (f - 1)), (s mod (f - 1)). repeat split; auto.
  - apply Nat.mod_upper_bound. lia.
  - apply Nat.div_mod. lia.
Qed.

Lemma distance_next f s : 2 <= f -> distance f (S s) = distance f s + stride f s.
Proof.
  intros F. destruct (place f s F) as (i & e & He & E & D & _). unfold distance, first, stride. rewrite D.
  remember (f - 1) as g eqn:G. assert (f = g + 1) as -> by lia. clear G F. rewrite (Nat.mul_comm g i) in E.
  destruct (le_lt_dec g (e + 1)) as [L|L].
  - replace (S s / g) with (S i) by (apply Nat.div_unique with 0; rewrite ?Nat.mul_succ_r, ?(Nat.mul_comm g i); lia).
    rewrite Nat.mul_succ_l. replace (S s - (i * g + g)) with 0 by lia. replace (s - i * g + 1) with g by lia.
    rewrite Nat.pow_succ_r'. generalize ((g + 1) ^ i). intros w. rewrite Nat.mul_add_distr_r. lia.
  - replace (S s / g) with i by (apply Nat.div_unique with (e + 1); rewrite ?(Nat.mul_comm g i); lia).
    replace (S s - i * g + 1) with (s - i * g + 1 + 1) by lia. generalize ((g + 1) ^ i). intros w.
    rewrite (Nat.mul_add_distr_r _ 1 w). lia.
Qed.

Lemma distance_first f s : 2 <= f -> distance f (first f s) = stride f s /\ first f s <= s.
Proof.
  intros F. destruct (place f s F) as (i & e & He & E & D & _). unfold distance, first, stride. rewrite D.
  replace (i * (f - 1) / (f - 1)) with i by (rewrite Nat.div_mul; lia). split; [|rewrite Nat.mul_comm; lia].
  replace (i * (f - 1) - i * (f - 1)) with 0 by lia. lia.
Qed.

Lemma stride_positive f s : 2 <= f -> 1 <= stride f s.
Proof. intros F. unfold stride. apply Nat.neq_0_lt_0, Nat.pow_nonzero. lia. Qed.

Lemma distance_least f s : 2 <= f -> s + 1 <= distance f s.
Proof.
  intros F. induction s as [|s IH].
  - unfold distance, first, stride. rewrite Nat.div_0_l by lia. simpl. lia.
  - rewrite distance_next by auto. pose proof (stride_positive f s F). lia.
Qed.

Lemma count_enough f p : 2 <= f -> forall fuel s, p <= s + fuel ->
  p <= distance f (count_steps f p s fuel) /\
  forall t, s <= t -> t < count_steps f p s fuel -> distance f t < p.
Proof.
  intros F. induction fuel as [|n IH]; intros s L; simpl.
  - split; [| lia]. pose proof (distance_least f s F). lia.
  - destruct (Nat.ltb_spec (distance f s) p) as [B|B].
    + destruct (IH (S s) ltac:(lia)) as [I1 I2]. split; auto. intros t T1 T2.
      destruct (Nat.eq_dec t s) as [->|N]; auto. apply I2; lia.
    + split; [auto | lia].
Qed.

(* ---- what is heard ---------------------------------------------------------------------------------- *)

Lemma barrier_matched f p : 2 <= f -> Matched (barrier f p) p (barrier_rounds f p).
Proof.
  intros F t r q kind Ht Hr. unfold barrier, target, source. simpl.
  destruct (count_enough f p F p 0 ltac:(lia)) as [_ B]. specialize (B t ltac:(lia) Ht).
  revert B. generalize (distance f t). intros d B. pose proof Hr.
  split; intros E; injection E as <- <-; split; try circle; f_equal; f_equal; circle.
Qed.

Lemma together_write m v i : forall n, n < i ->
  together (write m (Scratch, i) v) (Scratch, 0) n = together m (Scratch, 0) n.
Proof.
  induction n as [|n IH]; intros L; simpl.
  - other. reflexivity.
  - rewrite IH by lia. other. reflexivity.
Qed.

(* Tokens 0 … s hold, of the ranks before r, those nearer than the distance of step s. *)
Lemma barrier_heard f p : 2 <= f -> forall t, t <= barrier_rounds f p -> forall r, r < p -> forall s, s <= t ->
  exists e, together (after (barrier f p) arrival t r) (Scratch, 0) s = Some e /\
    forall q, q < p -> minus p r q < distance f s -> List.In q (ranks e).
Proof.
  intros F. induction t as [|t IH]; intros Ht r Hr s Hs.
  - assert (s = 0) as -> by lia. exists (Leaf r 0). split; [reflexivity |]. intros q Hq.
    unfold distance, first, stride. rewrite Nat.div_0_l by lia. simpl. intros L. left. circle.
  - destruct (count_enough f p F p 0 ltac:(lia)) as [_ B]. specialize (B t ltac:(lia) Ht).
    assert (minus p r (distance f t) < p) as Hq by (pose proof (distance_least f t F); circle).
    destruct (distance_first f t F) as [D1 D2].
    assert (forall s, s <= t -> exists e, together (after (barrier f p) arrival t r) (Scratch, 0) s = Some e /\
      forall q, q < p -> minus p r q < distance f s -> List.In q (ranks e)) as I by (intros; apply IH; auto; lia).
    destruct (IH ltac:(lia) _ Hq (first f t) D2) as (e' & T' & H'). clear IH.
    into_round barrier. compute_round.
    destruct (Nat.eq_dec s (S t)) as [->|N].
    + cbn [together]. rewrite together_write by lia. destruct (I t (le_n t)) as (e & T & H). rewrite T.
      replace (first f t + 1 - 1) with (first f t) by lia. rewrite T'.
      cbn [fst snd plus Nat.add]. reads. exists (Combine e e'). split; [reflexivity |].
      intros q Q L. simpl. apply in_or_app. destruct (le_lt_dec (distance f t) (minus p r q)) as [C|C].
      * right. apply H'; auto. rewrite distance_next in L by auto. rewrite D1.
        revert L C B. generalize (distance f t) (stride f t). intros d w. circle.
      * left. apply H; auto.
    + rewrite together_write by lia. apply I. lia.
Qed.

(* When a rank has ended, it has heard from everybody. *)
Theorem dissemination_barrier : forall f p, 2 <= f -> 1 <= p ->
  Correct (barrier f p) arrival p (barrier_rounds f p)
    (fun _ m => exists e, together m (Scratch, 0) (barrier_rounds f p) = Some e /\
      forall q, q < p -> List.In q (ranks e)).
Proof.
  intros f p F P. apply correct; [apply barrier_matched; auto |]. intros r Hr.
  destruct (barrier_heard f p F (barrier_rounds f p) (le_n _) r Hr _ (le_n _)) as (e & T & H).
  exists e. split; auto. intros q Q. apply H; auto.
  destruct (count_enough f p F p 0 ltac:(lia)) as [D _]. fold (barrier_rounds f p) in D.
  apply Nat.lt_le_trans with p; auto. circle.
Qed.
