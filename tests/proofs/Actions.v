(* tests/proofs/Actions.v — the actions of include/coll/plan/action.h, and what they do to a rank's memory

   Values are expressions over operands: Leaf r i is element i of what rank r contributes, Combine a b is a ⊕ b.
   No law of ⊕ is used, so equal expressions are equal bits. What was never written is None, and so is all that
   is made of it. An element here is a block: the schedules are those for blocks of one element.

   A barrier's tokens hold whom the rank has heard of: token 0 is its own arrival, Leaf r 0; a NOTIFY sends all
   that the tokens which it names hold together, and an AWAIT keeps it. *)
From Coq Require Import List Arith Lia Bool Permutation.
From CollProofs Require Import Network.
Import ListNotations.

Inductive expression := Leaf (rank element : nat) | Combine (a b : expression).
Definition value := option expression.
Definition combine (a b : value) : value :=
  match a, b with Some a, Some b => Some (Combine a b) | _, _ => None end.

(* The ranks whose operands an expression has, from left to right. *)
Fixpoint ranks (e : expression) : list nat :=
  match e with Leaf r _ => [r] | Combine a b => ranks a ++ ranks b end.
(* … all of them with this element. *)
Fixpoint only (i : nat) (e : expression) : Prop :=
  match e with Leaf _ j => j = i | Combine a b => only i a /\ only i b end.

Inductive space := In | Out | Scratch.
Definition cell := (space * nat)%type.
Definition memory := cell -> value.

Definition space_eqb (a b : space) : bool :=
  match a, b with In, In | Out, Out | Scratch, Scratch => true | _, _ => false end.
Definition cell_eqb (a b : cell) : bool := space_eqb (fst a) (fst b) && (snd a =? snd b).
Definition write (m : memory) (c : cell) (v : value) : memory := fun d => if cell_eqb d c then v else m d.

Lemma cell_eqb_spec a b : reflect (a = b) (cell_eqb a b).
Proof.
  unfold cell_eqb. destruct a as [sa a], b as [sb b]. simpl.
  destruct (Nat.eqb_spec a b) as [->|N]; destruct sa, sb; simpl; constructor; congruence.
Qed.
Lemma write_same m c v : write m c v c = v.
Proof. unfold write. destruct (cell_eqb_spec c c); congruence. Qed.
Lemma write_other m c v d : d <> c -> write m c v d = m d.
Proof. unfold write. destruct (cell_eqb_spec d c); congruence. Qed.

(* ---- actions ---------------------------------------------------------------------------------- *)

Inductive send := Send (to : nat) (src : cell) | Notify (to : nat) (src : cell) (count : nat).
Inductive receive :=
| Recv (from : nat) (dst : cell)
| RecvReduce (from : nat) (dst src via : cell) (below : bool)
| Await (from : nat) (dst : cell).
Inductive copy := Copy (dst src : cell).
Inductive action := Sends (a : send) | Receives (a : receive) | Copies (a : copy).

(* A round of a rank: at most one send, at most one receive, copies, in this order. *)
Record round := { out : option send; into : option receive; own : list copy }.
Definition idle : round := {| out := None; into := None; own := [] |}.

Definition actions (x : round) : list action :=
  match out x with Some a => [Sends a] | None => [] end ++
  match into x with Some a => [Receives a] | None => [] end ++ map Copies (own x).

(* The peer, and whether the message is a notification. *)
Definition target (x : round) : option (nat * bool) :=
  match out x with Some (Send to _) => Some (to, false) | Some (Notify to _ _) => Some (to, true) | None => None end.
Definition source (x : round) : option (nat * bool) :=
  match into x with
  | Some (Recv from _) | Some (RecvReduce from _ _ _ _) => Some (from, false)
  | Some (Await from _) => Some (from, true)
  | None => None
  end.

(* Tokens 0 … n after the one at c, together. *)
Fixpoint together (m : memory) (c : cell) (n : nat) : value :=
  match n with 0 => m c | S k => combine (together m c k) (m (fst c, snd c + n)) end.

Definition sent (a : send) : nat * (memory -> value) :=
  match a with
  | Send to src => (to, fun m => m src)
  | Notify to src count => (to, fun m => together m src (count - 1))
  end.
Definition received (a : receive) : nat * (value -> memory -> memory) :=
  match a with
  | Recv from dst | Await from dst => (from, fun v m => write m dst v)
  | RecvReduce from dst src via below =>
      (from, fun v m => write (write m via None) dst (if below then combine v (m src) else combine (m src) v))
  end.
Definition copied (a : copy) : memory -> memory := match a with Copy dst src => fun m => write m dst (m src) end.

Definition meaning (x : round) : Network.round memory value :=
  {| sends := option_map sent (out x); receives := option_map received (into x); works := map copied (own x) |}.

(* ---- what is proven of a schedule --------------------------------------------------------------- *)

Section Schedule.
Variable schedule : nat -> nat -> round. (* rank, round *)
Variable initial : nat -> memory.

(* Round by round. *)
Definition after := sync memory value (fun r t => meaning (schedule r t)) None initial.

(* In each round q receives from r, a message of the same kind, if and only if r sends to q. *)
Definition Matched (p rounds : nat) : Prop := forall t r q kind, t < rounds -> r < p ->
  (target (schedule r t) = Some (q, kind) -> q < p /\ source (schedule q t) = Some (r, kind)) /\
  (source (schedule r t) = Some (q, kind) -> q < p /\ target (schedule q t) = Some (r, kind)).

(* However the p ranks take turns at their programs: they never get stuck, they end, and then no message is left
   and each rank's memory is as `good` says. *)
Definition Correct (p rounds : nat) (good : nat -> memory -> Prop) : Prop :=
  let start := start memory value (fun r t => meaning (schedule r t)) initial p rounds in
  forall n m, turns memory value n start m ->
    n + size memory value p m = size memory value p start /\
    ((exists m', turn memory value m m') \/
     forall r, r < p -> rest _ _ m r = [] /\ good r (state _ _ m r) /\ forall q, channel _ _ m q r = []).

Theorem correct p rounds (good : nat -> memory -> Prop) :
  Matched p rounds -> (forall r, r < p -> good r (after rounds r)) -> Correct p rounds good.
Proof.
  intros M G. unfold Correct. intros n m T. split; [eapply runs_end; eauto |].
  destruct (any_interleaving memory value (fun r t => meaning (schedule r t)) None initial p rounds)
    with (n := n) (m := m) as [X|X]; auto.
  - intros t r q Ht Hr. simpl. split.
    + intros v E. destruct (out (schedule r t)) as [a|] eqn:O; [|discriminate]. simpl in E.
      assert (exists kind, target (schedule r t) = Some (q, kind)) as [kind K].
      { unfold target. rewrite O. destruct a; simpl in E; injection E as -> _; eauto. }
      destruct (M t r q kind Ht Hr) as [M1 _]. destruct (M1 K) as [Hq Z]. split; auto.
      unfold source in Z. destruct (into (schedule q t)) as [b|]; [|discriminate].
      destruct b; simpl; injection Z as -> _; eauto.
    + intros v E. destruct (into (schedule r t)) as [a|] eqn:O; [|discriminate]. simpl in E.
      assert (exists kind, source (schedule r t) = Some (q, kind)) as [kind K].
      { unfold source. rewrite O. destruct a; simpl in E; injection E as -> _; eauto. }
      destruct (M t r q kind Ht Hr) as [_ M2]. destruct (M2 K) as [Hq Z]. split; auto.
      unfold target in Z. destruct (out (schedule q t)) as [b|]; [|discriminate].
      destruct b; simpl; injection Z as -> _; eauto.
  - right. intros r Hr. destruct (X r Hr) as (A & B & C). repeat split; auto. rewrite B. apply G. auto.
Qed.

(* A round, as a rank's memory sees it. *)
Lemma after_step t r : after (S t) r =
  fold_left (fun m work => work m) (map copied (own (schedule r t)))
    match into (schedule r t) with
    | None => after t r
    | Some a => snd (received a)
        (match out (schedule (fst (received a)) t) with
         | Some b => snd (sent b) (after t (fst (received a))) | None => None end) (after t r)
    end.
Proof.
  unfold after. simpl. destruct (into (schedule r t)) as [a|]; simpl; auto.
  destruct (received a) as [q take]. simpl. destruct (out (schedule q t)) as [b|]; simpl; auto.
  destruct (sent b); auto.
Qed.
End Schedule.

(* What a rank does in its rounds from `first` on. *)
Definition program (schedule : nat -> nat -> round) (r first rounds : nat) : list action :=
  flat_map (fun t => actions (schedule r t)) (seq first rounds).

(* ---- ranks in a circle --------------------------------------------------------------------------- *)

(* (r + d) mod p and (r − d) mod p, for r < p and d ≤ p. *)
Definition plus (p r d : nat) : nat := if r + d <? p then r + d else r + d - p.
Definition minus (p r d : nat) : nat := if d <=? r then r - d else r + p - d.

Ltac cases := repeat match goal with
  | |- context [?a <? ?b] => destruct (Nat.ltb_spec a b)
  | |- context [?a <=? ?b] => destruct (Nat.leb_spec a b)
  | |- context [?a =? ?b] => destruct (Nat.eqb_spec a b)
  | H : context [?a <? ?b] |- _ => destruct (Nat.ltb_spec a b)
  | H : context [?a <=? ?b] |- _ => destruct (Nat.leb_spec a b)
  | H : context [?a =? ?b] |- _ => destruct (Nat.eqb_spec a b)
  end.
Ltac circle := unfold plus, minus in *; cases; lia.
(* Unfolds a round of schedule f, after what `before` has. *)
Ltac into_round f := rewrite after_step; match goal with
  | |- context [after ?a ?b ?c] => set (before := after a b c) in *; clearbody before end; unfold f.
Ltac compute_round := cbn [own into out fst snd received sent map fold_left copied andb orb option_map].
(* Reads what was written elsewhere, or here. *)
Ltac other := rewrite write_other by (intros X; (discriminate X || (injection X; intros; lia))).
Ltac reads := repeat (rewrite write_same || other).

(* Going round once meets everybody once. *)
Lemma around p r : r < p -> Permutation (map (minus p r) (seq 0 p)) (seq 0 p).
Proof.
  intros Hr. apply NoDup_Permutation.
  - assert (forall l, NoDup l -> (forall j, List.In j l -> j < p) -> NoDup (map (minus p r) l)) as N.
    { induction l as [|j l IH]; simpl; intros D B; constructor; inversion D; subst.
      - intros X. apply in_map_iff in X. destruct X as (k & E & K). assert (j < p) by auto. assert (k < p) by auto.
        assert (k = j) by circle. congruence.
      - apply IH; auto. }
    apply N; [apply seq_NoDup |]. intros j X. apply in_seq in X. lia.
  - apply seq_NoDup.
  - intros q. rewrite in_map_iff, in_seq. split.
    + intros (j & <- & J). apply in_seq in J. split; circle.
    + intros [_ L]. exists (minus p r q). split; [circle | apply in_seq; split; circle].
Qed.
