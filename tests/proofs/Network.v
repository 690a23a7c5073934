(* tests/proofs/Network.v — why it suffices to look at rounds: any interleaving ends the same

   Ranks run programs of actions over channels that keep their order: a send does not block, a receive
   blocks. A schedule says what each rank does in each round: at most one send, then at most one receive,
   then local work; a rank's program is its rounds one after the other. `sync` runs it round by round.

   Theorem any_interleaving: let in each round a rank receive from q if and only if q sends to it (Matched).
   Then each run of the programs, whatever the order in which the ranks take their turns, is never stuck
   before all programs have ended; and at the end every rank has what `sync` says, and no message is left.
   Theorem runs_end: no run is longer than the number of all actions. *)
From Coq Require Import List Arith Lia Bool.
Import ListNotations.

Section Network.
Variables (State Message : Type).

(* What a program is made of. A time is a number that only the proof looks at. *)
Inductive step_of_program :=
| Put (to : nat) (value : State -> Message)
| Get (from : nat) (take : Message -> State -> State)
| Local (work : State -> State).

Definition program := list (nat * step_of_program).
Definition set {A} (f : nat -> A) i a : nat -> A := fun j => if j =? i then a else f j.
Definition set2 {A} (f : nat -> nat -> A) i j a : nat -> nat -> A :=
  fun k l => if (k =? i) && (l =? j) then a else f k l.

(* ---- the machine: all interleavings ---------------------------------------------------------- *)

Record machine := { rest : nat -> program; state : nat -> State; channel : nat -> nat -> list (nat * Message) }.

(* One action of one rank. A message carries the time of its send; no rule looks at it. *)
Inductive turn (m : machine) : machine -> Prop :=
| turn_put r u to value more : rest m r = (u, Put to value) :: more ->
    turn m {| rest := set (rest m) r more; state := state m;
              channel := set2 (channel m) r to (channel m r to ++ [(u, value (state m r))]) |}
| turn_get r u from take more v message left : rest m r = (u, Get from take) :: more ->
    channel m from r = (v, message) :: left ->
    turn m {| rest := set (rest m) r more; state := set (state m) r (take message (state m r));
              channel := set2 (channel m) from r left |}
| turn_local r u work more : rest m r = (u, Local work) :: more ->
    turn m {| rest := set (rest m) r more; state := set (state m) r (work (state m r)); channel := channel m |}.

Inductive turns : nat -> machine -> machine -> Prop :=
| turns_none m : turns 0 m m
| turns_more n a b c : turns n a b -> turn b c -> turns (S n) a c.

(* ---- a rank alone, given all that it will receive -------------------------------------------- *)

Inductive alone : program -> State -> (nat -> list (nat * Message)) -> (nat -> list (nat * Message)) -> State -> Prop :=
| alone_end s inp out : (forall q, inp q = []) -> (forall q, out q = []) -> alone [] s inp out s
| alone_put u to value more s inp out out' s' : out to = (u, value s) :: out' to ->
    (forall q, q <> to -> out q = out' q) -> alone more s inp out' s' ->
    alone ((u, Put to value) :: more) s inp out s'
| alone_get u from take more s inp inp' out v message s' : inp from = (v, message) :: inp' from -> v < u ->
    (forall q, q <> from -> inp q = inp' q) -> alone more (take message s) inp' out s' ->
    alone ((u, Get from take) :: more) s inp out s'
| alone_local u work more s inp out s' : alone more (work s) inp out s' ->
    alone ((u, Local work) :: more) s inp out s'.

Lemma alone_ext prog s inp out s' : alone prog s inp out s' ->
  forall inp2 out2, (forall q, inp2 q = inp q) -> (forall q, out2 q = out q) -> alone prog s inp2 out2 s'.
Proof.
  induction 1; intros inp2 out2 Hi Ho.
  - constructor; intros; [rewrite Hi | rewrite Ho]; auto.
  - apply alone_put with (out' := out'); [rewrite Ho; auto | intros; rewrite Ho; auto | apply IHalone; auto].
  - apply alone_get with (inp' := inp') (v := v) (message := message); auto;
      [rewrite Hi; auto | intros; rewrite Hi; auto].
  - constructor. apply IHalone; auto.
Qed.

Lemma alone_put_is u to value more s inp out s' : alone ((u, Put to value) :: more) s inp out s' ->
  exists out', out to = (u, value s) :: out' to /\ (forall q, q <> to -> out q = out' q) /\ alone more s inp out' s'.
Proof. inversion 1; subst; eauto. Qed.
Lemma alone_get_is u from take more s inp out s' : alone ((u, Get from take) :: more) s inp out s' ->
  exists inp' v message, inp from = (v, message) :: inp' from /\ v < u /\
    (forall q, q <> from -> inp q = inp' q) /\ alone more (take message s) inp' out s'.
Proof. inversion 1; subst; eauto 8. Qed.
Lemma alone_local_is u work more s inp out s' :
  alone ((u, Local work) :: more) s inp out s' -> alone more (work s) inp out s'.
Proof. inversion 1; subst; auto. Qed.

(* Times do not decrease. *)
Fixpoint sorted (u : nat) (prog : program) : Prop :=
  match prog with [] => True | (v, _) :: more => u <= v /\ sorted v more end.

Lemma sorted_weaken prog : forall u v, u <= v -> sorted v prog -> sorted u prog.
Proof. destruct prog as [|[w a] more]; simpl; intuition lia. Qed.

(* A message that is still to be sent is sent no earlier than the next action of its sender. *)
Lemma next_is_no_later prog s inp out s' : alone prog s inp out s' -> forall q v message left,
  out q = (v, message) :: left -> sorted 0 prog -> exists u a more, prog = (u, a) :: more /\ u <= v.
Proof.
  induction 1; intros to' v' m' l' E Hs; simpl in Hs.
  - rewrite H0 in E. discriminate.
  - exists u, (Put to value), more. split; auto. destruct (Nat.eq_dec to' to) as [->|N].
    + rewrite H in E. inversion E. lia.
    + rewrite H0 in E by auto. destruct (IHalone _ _ _ _ E) as (u2 & a2 & more2 & -> & L).
      * apply sorted_weaken with u; [lia | tauto].
      * simpl in Hs. lia.
  - exists u, (Get from take), more. split; auto.
    destruct (IHalone _ _ _ _ E) as (u2 & a2 & more2 & -> & L).
    + apply sorted_weaken with u; [lia | tauto].
    + simpl in Hs. lia.
  - exists u, (Local work), more. split; auto.
    destruct (IHalone _ _ _ _ E) as (u2 & a2 & more2 & -> & L).
    + apply sorted_weaken with u; [lia | tauto].
    + simpl in Hs. lia.
Qed.

(* ---- the invariant: the ranks fit together, whatever has happened so far ---------------------- *)

(* out: what each rank will still send to each other. *)
Definition fits (m : machine) (final : nat -> State) : Prop :=
  exists out : nat -> nat -> list (nat * Message), forall r,
    sorted 0 (rest m r) /\
    alone (rest m r) (state m r) (fun q => channel m q r ++ out q r) (out r) (final r).

Lemma set_same {A} (f : nat -> A) i a : set f i a i = a.
Proof. unfold set. rewrite Nat.eqb_refl. reflexivity. Qed.
Lemma set_other {A} (f : nat -> A) i j a : j <> i -> set f i a j = f j.
Proof. unfold set. intros N. apply Nat.eqb_neq in N. rewrite N. reflexivity. Qed.
Lemma set2_same {A} (f : nat -> nat -> A) i j a : set2 f i j a i j = a.
Proof. unfold set2. rewrite !Nat.eqb_refl. reflexivity. Qed.
Lemma set2_other {A} (f : nat -> nat -> A) i j a k l : k <> i \/ l <> j -> set2 f i j a k l = f k l.
Proof.
  unfold set2. intros [N|N]; apply Nat.eqb_neq in N; rewrite N; [| rewrite andb_comm]; reflexivity.
Qed.

Ltac same_or_other i j := destruct (Nat.eq_dec i j) as [->|?];
  [rewrite ?set_same | rewrite ?set_other by auto].

Lemma turn_keeps_fits m m' final : turn m m' -> fits m final -> fits m' final.
Proof.
  intros T [out F]. destruct T.
  - destruct (F r) as [So A]. rewrite H in A, So. simpl in So.
    destruct (alone_put_is _ _ _ _ _ _ _ _ A) as (out' & O1 & O2 & A2). clear A.
    exists (set out r out'). intros r'. cbn [rest state channel].
    same_or_other r' r.
    + split; [apply sorted_weaken with u; [lia | tauto] |]. eapply alone_ext; eauto. intros q. cbv beta.
      destruct (Nat.eq_dec q r) as [->|N].
      * rewrite set_same. destruct (Nat.eq_dec r to) as [<-|N2].
        { rewrite set2_same, O1, <- app_assoc. reflexivity. }
        { rewrite set2_other by auto. rewrite O2 by auto. reflexivity. }
      * rewrite set_other by auto. rewrite set2_other by auto. reflexivity.
    + destruct (F r') as [So' A']. split; auto. eapply alone_ext; eauto.
      intros q. cbv beta. destruct (Nat.eq_dec q r) as [->|N].
      * rewrite set_same. destruct (Nat.eq_dec r' to) as [->|N2].
        { rewrite set2_same, O1, <- app_assoc. reflexivity. }
        { rewrite set2_other by auto. rewrite O2 by auto. reflexivity. }
      * rewrite set_other by auto. rewrite set2_other by auto. reflexivity.
  - destruct (F r) as [So A]. rewrite H in A, So. simpl in So.
    destruct (alone_get_is _ _ _ _ _ _ _ _ A) as (inp' & v' & message' & I1 & _ & I2 & A2). clear A.
    rewrite H0 in I1. simpl in I1. injection I1 as <- <- I1.
    exists out. intros r'. cbn [rest state channel]. same_or_other r' r.
    + split; [apply sorted_weaken with u; [lia | tauto] |]. eapply alone_ext; eauto.
      intros q. cbv beta. destruct (Nat.eq_dec q from) as [->|N].
      * rewrite set2_same. auto.
      * rewrite set2_other by auto. apply I2. auto.
    + destruct (F r') as [So' A']. split; auto. eapply alone_ext; eauto.
      intros q. cbv beta. rewrite set2_other by auto. reflexivity.
  - destruct (F r) as [So A]. rewrite H in A, So. simpl in So. apply alone_local_is in A.
    exists out. intros r'. cbn [rest state channel]. same_or_other r' r.
    + split; [apply sorted_weaken with u; [lia | tauto] |]. auto.
    + apply F.
Qed.

(* No deadlock: what a rank waits for, somebody with an earlier action will send. *)
Lemma somebody_moves m final : fits m final -> forall u r a more, rest m r = (u, a) :: more -> exists m', turn m m'.
Proof.
  intros [out F] u. induction u as [u IH] using lt_wf_ind. intros r a more E.
  destruct a.
  - eexists. eapply turn_put; eauto.
  - destruct (channel m from r) as [|[v message] left] eqn:C.
    + destruct (F r) as [_ A]. rewrite E in A.
      destruct (alone_get_is _ _ _ _ _ _ _ _ A) as (inp' & v & message & I1 & L & _).
      rewrite C in I1. simpl in I1.
      destruct (F from) as [So' A'].
      destruct (next_is_no_later _ _ _ _ _ A' _ _ _ _ I1 So') as (u2 & a2 & more2 & E2 & L2).
      eapply IH; [| exact E2]. lia.
    + eexists. eapply turn_get; eauto.
  - eexists. eapply turn_local; eauto.
Qed.

Definition ended (m : machine) (final : nat -> State) : Prop :=
  forall r, rest m r = [] /\ state m r = final r /\ forall q, channel m q r = [].

Lemma moves_or_ended p m final : (forall r, p <= r -> rest m r = []) -> fits m final ->
  (exists m', turn m m') \/ ended m final.
Proof.
  intros P F. destruct (Exists_dec (fun r => rest m r <> []) (seq 0 p)) as [X|X].
  - intros r. destruct (rest m r); [right | left]; congruence.
  - left. apply Exists_exists in X. destruct X as (r & _ & N).
    destruct (rest m r) as [|[u a] more] eqn:E; [congruence|].
    eapply somebody_moves; eauto.
  - right. assert (forall r, rest m r = []) as Z.
    { intros r. destruct (le_lt_dec p r); auto. destruct (rest m r) eqn:E; auto. exfalso. apply X.
      apply Exists_exists. exists r. split; [apply in_seq; lia | rewrite E; discriminate]. }
    destruct F as [out F]. intros r. split; auto. destruct (F r) as [_ A]. rewrite Z in A.
    assert (state m r = final r /\ forall q, channel m q r ++ out q r = []) as [E N] by (inversion A; auto).
    split; auto. intros q. specialize (N q). apply app_eq_nil in N. tauto.
Qed.

Lemma turn_keeps_ended m m' r : turn m m' -> rest m r = [] -> rest m' r = [].
Proof.
  destruct 1; simpl; intros E; unfold set; destruct (Nat.eqb_spec r r0); subst; auto; congruence.
Qed.

(* ---- schedules in rounds ---------------------------------------------------------------------- *)

Record round := { sends : option (nat * (State -> Message)); receives : option (nat * (Message -> State -> State));
                  works : list (State -> State) }.
Variable schedule : nat -> nat -> round. (* rank, round *)
Variable nothing : Message.
Variable initial : nat -> State.

(* Round by round, all ranks at once. *)
Fixpoint sync (t r : nat) : State :=
  match t with
  | 0 => initial r
  | S t => fold_left (fun s work => work s) (works (schedule r t))
      match receives (schedule r t) with
      | None => sync t r
      | Some (q, take) =>
          take (match sends (schedule q t) with Some (_, value) => value (sync t q) | None => nothing end) (sync t r)
      end
  end.

(* A rank's round number t, and its rounds from t on. *)
Definition round_program (r t : nat) : program :=
  match sends (schedule r t) with Some (to, value) => [(2 * t, Put to value)] | None => [] end ++
  match receives (schedule r t) with Some (from, take) => [(2 * t + 1, Get from take)] | None => [] end ++
  map (fun work => (2 * t + 1, Local work)) (works (schedule r t)).

Fixpoint rank_program (r t rounds : nat) : program :=
  match rounds with 0 => [] | S n => round_program r t ++ rank_program r (S t) n end.

(* Whoever is sent to receives, and the other way round. *)
Definition Matched (p rounds : nat) : Prop := forall t r q, t < rounds -> r < p ->
  (forall value, sends (schedule r t) = Some (q, value) -> q < p /\
    exists take, receives (schedule q t) = Some (r, take)) /\
  (forall take, receives (schedule r t) = Some (q, take) -> q < p /\
    exists value, sends (schedule q t) = Some (r, value)).

(* What q sends to r in a round, and in rounds from t on. *)
Definition round_wire (p q r t : nat) : list (nat * Message) :=
  match sends (schedule q t) with
  | Some (to, value) => if (to =? r) && (q <? p) then [(2 * t, value (sync t q))] else []
  | None => []
  end.
Fixpoint wire (p q r t rounds : nat) : list (nat * Message) :=
  match rounds with 0 => [] | S n => round_wire p q r t ++ wire p q r (S t) n end.

Lemma sorted_rounds r : forall n t u, u <= 2 * t -> sorted u (rank_program r t n).
Proof.
  induction n as [|n IH]; intros t u L; simpl; auto.
  assert (forall l v, v <= 2 * t + 1 ->
    sorted v (map (fun work => (2 * t + 1, Local work)) l ++ rank_program r (S t) n)) as W.
  { induction l as [|w l IHl]; intros v Lv; simpl.
    - apply IH. lia.
    - split; [lia|]. apply IHl. lia. }
  unfold round_program. rewrite <- !app_assoc.
  destruct (sends (schedule r t)) as [[to value]|], (receives (schedule r t)) as [[from take]|]; simpl;
    repeat split; try lia; apply W; lia.
Qed.

Lemma alone_works more inp out s' t : forall l s, alone more (fold_left (fun s work => work s) l s) inp out s' ->
  alone (map (fun work => (2 * t + 1, Local work)) l ++ more) s inp out s'.
Proof. induction l as [|w l IH]; simpl; intros s A; auto. constructor. apply IH. exact A. Qed.

Lemma rounds_alone p rounds r : Matched p rounds -> r < p -> forall n t, t + n = rounds ->
  alone (rank_program r t n) (sync t r) (fun q => wire p q r t n) (fun q => wire p r q t n) (sync rounds r).
Proof.
  intros M Hr. induction n as [|n IH]; intros t E.
  - replace t with rounds by lia. simpl. constructor; auto.
  - specialize (IH (S t) ltac:(lia)). assert (t < rounds) as Ht by lia.
    assert (r <? p = true) as Hb by (apply Nat.ltb_lt; auto).
    (* what r does after its send *)
    assert (alone (match receives (schedule r t) with
                   | Some (from, take) => [(2 * t + 1, Get from take)]
                   | None => []
                   end ++
                   map (fun work => (2 * t + 1, Local work)) (works (schedule r t)) ++ rank_program r (S t) n)
              (sync t r) (fun q => wire p q r t (S n)) (fun q => wire p r q (S t) n) (sync rounds r)) as A.
    { cbn [sync] in IH. destruct (receives (schedule r t)) as [[q take]|] eqn:R.
      - destruct (M t r q Ht Hr) as [_ M2]. destruct (M2 _ R) as [Hq [value Sq]].
        assert (q <? p = true) as Hqb by (apply Nat.ltb_lt; auto).
        rewrite Sq in IH. cbn [app].
        apply alone_get with (inp' := fun q => wire p q r (S t) n) (v := 2 * t) (message := value (sync t q)).
        + simpl. unfold round_wire. rewrite Sq, Nat.eqb_refl, Hqb. reflexivity.
        + lia.
        + intros q' N. simpl. unfold round_wire. destruct (sends (schedule q' t)) as [[to value']|] eqn:S'; auto.
          destruct (Nat.eqb_spec to r) as [->|]; auto. destruct (Nat.ltb_spec q' p); auto.
          destruct (M t q' r Ht H) as [M1 _]. destruct (M1 _ S') as [_ [take' R']]. congruence.
        + apply alone_works. exact IH.
      - cbn [app]. apply alone_works. eapply alone_ext; eauto. intros q. simpl. unfold round_wire.
        destruct (sends (schedule q t)) as [[to value']|] eqn:S'; auto.
        destruct (Nat.eqb_spec to r) as [->|]; auto. destruct (Nat.ltb_spec q p); auto.
        destruct (M t q r Ht H) as [M1 _]. destruct (M1 _ S') as [_ [take' R']]. congruence. }
    cbn [rank_program]. unfold round_program. rewrite <- !app_assoc.
    destruct (sends (schedule r t)) as [[to value]|] eqn:Sr.
    + cbn [app]. apply alone_put with (out' := fun q => wire p r q (S t) n); auto.
      * simpl. unfold round_wire. rewrite Sr, Nat.eqb_refl, Hb. reflexivity.
      * intros q N. simpl. unfold round_wire. rewrite Sr. destruct (Nat.eqb_spec to q); [congruence | reflexivity].
    + cbn [app]. eapply alone_ext; [exact A | reflexivity |]. intros q. simpl. unfold round_wire. rewrite Sr.
      reflexivity.
Qed.

Definition start (p rounds : nat) : machine :=
  {| rest := fun r => if r <? p then rank_program r 0 rounds else []; state := initial; channel := fun _ _ => [] |}.
Definition result (p rounds : nat) (r : nat) : State := if r <? p then sync rounds r else initial r.

Lemma start_fits p rounds : Matched p rounds -> fits (start p rounds) (result p rounds).
Proof.
  intros M. exists (fun q r => if q <? p then wire p q r 0 rounds else []). intros r. unfold start, result. simpl.
  destruct (Nat.ltb_spec r p) as [L|L].
  - split; [apply sorted_rounds; lia |]. eapply alone_ext; [apply rounds_alone; eauto | |].
    + intros q. destruct (Nat.ltb_spec q p) as [Lq|Lq]; auto. symmetry.
      generalize 0. induction rounds as [|n IH]; intros t; auto. simpl. unfold round_wire at 1.
      assert (q <? p = false) as Q by (apply Nat.ltb_ge; auto). rewrite Q.
      assert (Matched p n -> wire p q r (S t) n = []) as IH' by (intros M'; apply IH; exact M').
      destruct (sends (schedule q t)) as [[to value]|]; rewrite ?andb_false_r; simpl; apply IH';
        intros t' r' q' Ht; apply M; lia.
    + reflexivity.
  - split; simpl; auto. constructor; auto. intros q. destruct (Nat.ltb_spec q p) as [Lq|Lq]; auto.
    assert (forall n t, t + n = rounds -> wire p q r t n = []) as W.
    { induction n as [|n IH]; intros t E; auto. simpl. rewrite IH by lia. unfold round_wire.
      destruct (sends (schedule q t)) as [[to value]|] eqn:Sq; auto.
      destruct (Nat.eqb_spec to r) as [->|]; auto. destruct (M t q r ltac:(lia) Lq) as [M1 _].
      destruct (M1 _ Sq). lia. }
    apply W. lia.
Qed.

(* Every run of the programs can go on or has ended, with what the rounds say and without a message left. *)
Theorem any_interleaving p rounds : Matched p rounds -> forall n m, turns n (start p rounds) m ->
  (exists m', turn m m') \/
  (forall r, r < p -> rest m r = [] /\ state m r = sync rounds r /\ forall q, channel m q r = []).
Proof.
  intros M n m T.
  assert ((forall r, p <= r -> rest m r = []) /\ fits m (result p rounds)) as [P F].
  { remember (start p rounds) as a. induction T; subst.
    - split; [| apply start_fits; auto]. intros r L. simpl. apply Nat.ltb_ge in L. rewrite L. auto.
    - destruct IHT as [P F]; auto. split; [| eapply turn_keeps_fits; eauto].
      intros r L. eapply turn_keeps_ended; eauto. }
  destruct (moves_or_ended _ _ _ P F) as [X|X]; auto. right. intros r L. destruct (X r) as (A & B & C).
  repeat split; auto. rewrite B. unfold result. apply Nat.ltb_lt in L. rewrite L. reflexivity.
Qed.

(* Actions that are still to be done. *)
Definition size (p : nat) (m : machine) : nat := list_sum (map (fun r => length (rest m r)) (seq 0 p)).

Lemma sum_set p (f g : nat -> nat) r : r < p -> f r = S (g r) -> (forall q, q <> r -> f q = g q) ->
  list_sum (map f (seq 0 p)) = S (list_sum (map g (seq 0 p))).
Proof.
  intros L E O. assert (forall n b, b <= r < b + n ->
    list_sum (map f (seq b n)) = S (list_sum (map g (seq b n)))) as H.
  { assert (forall n b, (r < b \/ b + n <= r) -> list_sum (map f (seq b n)) = list_sum (map g (seq b n))) as Same.
    { induction n as [|n IH]; intros b B; simpl; auto. rewrite O by lia. rewrite IH by lia. auto. }
    induction n as [|n IH]; intros b B; [lia|]. simpl. destruct (Nat.eq_dec b r) as [->|N].
    - rewrite E, Same by lia. lia.
    - rewrite O by auto. rewrite IH by lia. lia. }
  apply H. lia.
Qed.

Theorem runs_end p rounds n m : turns n (start p rounds) m -> n + size p m = size p (start p rounds).
Proof.
  intros T. assert ((forall r, p <= r -> rest m r = []) /\ n + size p m = size p (start p rounds)) as [_ H]; auto.
  remember (start p rounds) as a. induction T; subst.
  - split; auto. intros r L. simpl. apply Nat.ltb_ge in L. rewrite L. auto.
  - destruct IHT as [P E]; auto. split.
    + intros r L. eapply turn_keeps_ended; eauto.
    + rewrite <- E. enough (size p b = S (size p c)) by lia. unfold size.
      assert (forall r x more, rest b r = x :: more -> r < p) as Lt.
      { intros r x more X. destruct (le_lt_dec p r) as [L|L]; auto. rewrite P in X by auto. discriminate. }
      destruct H; apply sum_set with r; eauto; simpl; rewrite ?set_same, ?H; auto;
        intros q N; rewrite set_other by auto; auto.
Qed.

End Network.
