(* tests/proofs/run/compare.ml — are these the actions of the proven schedules?

   Reads what actions.c writes, works out the same by the functions that Coq extracts, and ends with a sentence
   and 1 at the first difference; else with a line a row of what was compared. *)
open Schedules

(* A row: its name; p and parameter to a schedule and its rounds. In the order of actions.c. *)
let rows = [|
  "ring allgather", (fun p _ -> ring_allgather p, ring_allgather_rounds p);
  "ring reduce_scatter", (fun p _ -> ring_reduce_scatter p, ring_reduce_scatter_rounds p);
  "ring allreduce", (fun p _ -> ring_allreduce p, ring_allreduce_rounds p);
  "dissemination barrier", (fun p f -> dissemination_barrier f p, dissemination_barrier_rounds f p);
  "doubling allreduce", (fun p _ ->
    let m = core_digits p in recursive_doubling (core_extra p) m, doubling_rounds m);
  "binomial bcast", (fun p root -> let m = tree_digits p in binomial_bcast p m root, tree_rounds m);
  "binomial reduce", (fun p root -> let m = tree_digits p in binomial_reduce p m root root, tree_rounds m);
  "… in order", (fun p root -> let m = tree_digits p in binomial_reduce p m root 0, tree_rounds m);
|]

let whole = 0x7fffffff

(* An action as seven numbers: those of coll_kind, and 0 for what a kind does not have. *)
let at (space, offset) = ((match space with In -> 0 | Out -> 1 | Scratch -> 2) lsl 28) + offset
let numbers = function
  | Sends (Send (peer, src)) -> [0; peer; 1; 0; at src; 0; 0]
  | Sends (Notify (peer, src, count)) -> [5; peer; count; 0; at src; 0; 0]
  | Receives (Recv (peer, dst)) -> [1; peer; 1; at dst; 0; 0; 0]
  | Receives (RecvReduce (peer, dst, src, via, left)) ->
      [2; peer; 1; at dst; at src; at via; if left then 1 else 0]
  | Receives (Await (peer, dst)) -> [6; peer; 1; at dst; 0; 0; 0]
  | Copies (Copy (dst, src)) -> [3; 0; 1; at dst; at src; 0; 0]

let words x = String.concat " " (List.map string_of_int x)
let fail text = print_endline ("FAILED: " ^ text); exit 1

type count = {
  mutable programs : int; mutable steps : int; mutable actions : int; mutable least : int; mutable most : int
}
let counts = Array.map (fun _ -> { programs = 0; steps = 0; actions = 0; least = max_int; most = 0 }) rows

let () =
  set_binary_mode_in stdin true;
  let next () = try input_binary_int stdin with End_of_file -> fail "the actions end too early" in
  let rec program last schedule rounds =
    let row = next () in
    if row < Array.length rows then begin
      let p = next () in let parameter = next () in let rank = next () in let step = next () in let n = next () in
      let name, make = rows.(row) in
      let schedule, rounds = if last = (row, p, parameter) then schedule, rounds else make p parameter in
      let is = List.init n (fun _ -> List.init 7 (fun _ -> next ())) in
      let first, many = if step = whole then 0, rounds else step, 1 in
      let proven = List.map numbers (Schedules.program schedule rank first many) in
      if is <> proven then begin
        let rec differ i = function
          | a :: is, b :: proven when a = b -> differ (i + 1) (is, proven)
          | is, proven ->
              let one = function [] -> "nothing" | a :: _ -> words a in
              fail (Printf.sprintf
                "%s, p = %d, parameter %d, rank %d, action %d from step %d on: the library does %s; proven is %s"
                name p parameter rank i first (one is) (one proven)) in
        differ 0 (is, proven)
      end;
      let c = counts.(row) in
      if step = whole then c.programs <- c.programs + 1 else c.steps <- c.steps + 1;
      c.actions <- c.actions + n;
      c.least <- min c.least p;
      c.most <- max c.most p;
      program (row, p, parameter) schedule rounds
    end in
  program (-1, 0, 0) (fun _ _ -> idle) 0;
  Array.iteri (fun i c ->
    if c.programs = 0 then fail (fst rows.(i) ^ " was not compared");
    Printf.printf "%-22s p = %d … %d: %d programs and %d single steps, %d actions\n"
      (fst rows.(i)) c.least c.most c.programs c.steps c.actions) counts
