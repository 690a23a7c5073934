"""The tool itself: what is code, what each operator makes of fixture/, what is said of its mutants, and that
equivalent.txt has no stale entries."""
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import engine  # noqa: E402
import equivalents  # noqa: E402
import mutate  # noqa: E402
import operators  # noqa: E402
import programs  # noqa: E402
from source import Source, tokens  # noqa: E402

FIXTURE = os.path.join(mutate.HERE, "fixture")

# (function, operator, the line that it makes)
MADE = [
    ("coll_half", "relation", "if (n > 10)"),
    ("coll_half", "relation", "if (n < 10)"),
    ("coll_half", "logic", "if (!(n >= 10))"),
    ("coll_half", "arithmetic", "return n * 2;"),
    ("coll_half", "arithmetic", "return 1;"),
    ("coll_half", "return", "return (n / 2) + 1;"),
    ("coll_half", "return", "return 0;"),
    ("coll_half", "constant", "return n / 3;"),
    ("coll_half_table", "arithmetic", "static const int coll_half_table[] = {7, 1 >> 3};"),
    ("coll_half_table", "constant", "static const int coll_half_table[] = {6, 1 << 3};"),
    ("coll_half_most", "ternary", "return a > b ? b : a;"),
    ("coll_half_most", "ternary", "return a > b ? a : a;"),
    ("coll_half_most", "ternary", "return a > b ? b : b;"),
    ("coll_half_count", "step", "for (unsigned i = 0; i != (unsigned)n; i--)"),
    ("coll_half_count", "drop", ";"),
    ("coll_half_swap", "drop", ";"),
    ("coll_half_bits", "drop", ";"),
    ("coll_half_bits", "drop", ""),
    ("coll_half_bits", "bits", "a |= ~b;"),
    ("coll_half_bits", "bits", "a &= b;"),
    ("coll_half_bits", "bits", "a = !b && a ? a & b : a ^ b;"),
    ("coll_half_bits", "logic", "a = b && a ? a | b : a ^ b;"),
    ("coll_half_bits", "logic", "a = !b || a ? a | b : a ^ b;"),
    ("coll_half_bits", "arguments", 'coll_half_swap("never < a mutant", &pair);'),
]


def of_fixture(text=None):
    return operators.mutants(text or read("include/coll/half.h"), "half.h")


def read(name):
    with open(os.path.join(FIXTURE, name), encoding="utf-8") as file:
        return file.read()


class Tokens(unittest.TestCase):
    def test_what_is_no_code(self):
        text = '/* a < b */ x = "a < b /*"; // a < b\n  #if a < b \\\n  a < b\nc < \'<\';\n'
        self.assertEqual([t.text for t in tokens(text)], ["x", "=", '"a < b /*"', ";", "c", "<", "'<'", ";"])
        self.assertEqual([t.line for t in tokens(text)], [1, 1, 1, 1, 4, 4, 4, 4])

    def test_longest_first(self):
        self.assertEqual([t.text for t in tokens("a<<=b>>c->d...e--1.5e-3f 0x1fu")],
                         ["a", "<<=", "b", ">>", "c", "->", "d", "...", "e", "--", "1.5e-3f", "0x1fu"])

    def test_casts_and_signs(self):
        source = Source("int f(int a)\n{\n    g((uint32_t)-a, (a) - 1, a - 1, *a, a & b, &a);\n}\n")
        minus = [source.is_binary(i) for i, t in enumerate(source.tokens) if t.text in ("-", "*", "&")]
        self.assertEqual(minus, [False, True, True, False, True, False])

    def test_statements(self):
        text = "void f(void)\n{\n    T x = 1;\n    T *y = &x;\n    x = 2;\n    if (x)\n        g(x);\n    (void)x;\n" \
               "    for (x = 0; x < 3; x++)\n        continue;\nend:\n    *y = 3;\n}\n"
        dropped = [m.old for m in operators.mutants(text, "f.h") if m.operator == "drop"]
        self.assertEqual(dropped, ["x = 2;", "g(x);", "continue;", "*y = 3;"])


class Operators(unittest.TestCase):
    def test_each_makes_what_it_says(self):
        made = {(m.function, m.operator, m.new) for m in of_fixture()}
        for wanted in MADE:
            self.assertIn(wanted, made)
        self.assertEqual({operator for _, operator, _ in MADE}, set(operators.OPERATORS))

    def test_all_are_different_and_one_piece(self):
        text = read("include/coll/half.h")
        results = [m.apply(text) for m in of_fixture()]
        self.assertEqual(len(set(results)), len(results))
        self.assertNotIn(text, results)
        self.assertEqual({r.count("\n") for r in results}, {text.count("\n")})
        self.assertEqual(len({m.id for m in of_fixture()}), len(results))

    def test_neither_comments_nor_directives(self):
        for mutant in of_fixture():
            self.assertNotIn("/*", mutant.old)
            self.assertFalse(mutant.old.startswith("#"))
            if '"' in mutant.old and mutant.operator != "drop":
                self.assertIn('"never < a mutant"', mutant.new)

    def test_proofs_own_values_stay(self):
        text = 'static const coll_param coll_i_x_params[] = {\n    {"k", "steps", 2, 9, 3, {4, 5, 6, 7}}};\n'
        changed = {m.new.split("steps", 1)[1] for m in operators.mutants(text, "x.h")}
        self.assertEqual(len(changed), 4)  # the least and the most
        self.assertTrue(all("3, {4, 5, 6, 7}" in c for c in changed))

    def test_keys_do_not_know_lines(self):
        text = read("include/coll/half.h")
        self.assertEqual([m.key() for m in of_fixture()], [m.key() for m in of_fixture("\n\n/* more */\n" + text)])


class Verdicts(unittest.TestCase):
    """All mutants of the fixture, with its test."""

    def test_verdicts(self):
        with tempfile.TemporaryDirectory() as place:
            results = os.path.join(place, "results")
            command = [sys.executable, os.path.join(mutate.HERE, "mutate.py"), "--tree", FIXTURE, "--scratch", place,
                       "--results", results, "--fail"]
            wanted = {
                "return n * 2;": "killed", "if (n > 10)": "killed", "return a > b ? b : a;": "killed",
                "return a >= b ? a : b;": "equivalent", "return n - 1000;": "survived", "return n + 999;": "survived",
                "for (unsigned i = 0; i != (unsigned)n; i--)": "killed",
                'coll_half_swap("never < a mutant", &pair);': "invalid",
                "return a > b ? b : b;": "killed",
            }
            chosen = [m for m in of_fixture() if m.new in wanted]
            self.assertEqual({m.new for m in chosen}, set(wanted))
            for mutant in chosen:
                command += ["--only", mutant.id]
            run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
            self.assertEqual(run.returncode, 1, run.stdout)
            with open(results, encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
            self.assertEqual({l["new"]: l["verdict"] for l in lines}, wanted, run.stdout)
            hung = next(l for l in lines if l["new"].endswith("i--)"))
            self.assertEqual((hung["by"], hung["how"]), ("half", "exit 1"))
            again = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
            self.assertIn("0 mutants", again.stdout)  # all are in the results
            report = subprocess.run([sys.executable, command[1], "--tree", FIXTURE, "--report", results],
                                    stdout=subprocess.PIPE, universal_newlines=True).stdout
            self.assertRegex(report, r"all +9 +1 +0 +1 +5 +2 +71.4 %")
            self.assertIn("+ return n - 1000;", report)


class Limits(unittest.TestCase):
    def spawn(self, command, cpu):
        with tempfile.TemporaryDirectory() as place:
            return engine.spawn(["sh", "-c", command], place, cpu)

    def test_what_ends_a_program(self):
        self.assertEqual(self.spawn("echo said; exit 3", 5).code, 3)
        self.assertEqual(self.spawn("echo said; exit 3", 5).output, "said\n")
        self.assertEqual(self.spawn("kill -SEGV $$", 5).why, "signal 11")
        self.assertEqual(self.spawn("while :; do :; done", 1).why, "timeout")
        usual, engine.SLEEP = engine.SLEEP, 3
        try:
            self.assertEqual(self.spawn("sleep 100", 5).why, "timeout")
        finally:
            engine.SLEEP = usual


class Equivalents(unittest.TestCase):
    def check(self, root, path):
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as place, contextlib.redirect_stdout(said):
            tree = programs.Tree(mutate.snapshot(root, place))
            code = equivalents.check(equivalents.read(path), tree)
        return code, said.getvalue()

    def test_stale_entries_are_told(self):
        code, said = self.check(FIXTURE, os.path.join(FIXTURE, "stale.txt"))
        self.assertEqual(code, 1)
        self.assertIn("equivalent.txt:7: no such mutant", said)
        self.assertNotIn("equivalent.txt:4:", said)

    def test_ours_are_not_stale(self):
        code, said = self.check(mutate.ROOT, os.path.join(mutate.HERE, "equivalent.txt"))
        self.assertEqual(code, 0, said)


class Ours(unittest.TestCase):
    def test_tests_that_are_listed_exist(self):
        for names in programs.TESTS.values():
            for name in names:
                self.assertTrue(os.path.exists(os.path.join(mutate.ROOT, "tests", name + ".c")), name)

    def test_areas_have_headers(self):
        with tempfile.TemporaryDirectory() as place:
            tree = programs.Tree(mutate.snapshot(mutate.ROOT, place))
        areas = {programs.area_of(header) for header in tree.headers}
        self.assertEqual(areas, set(programs.AREAS))
        self.assertGreater(len(tree.rows), 60)  # each header with algorithms has its proof


if __name__ == "__main__":
    unittest.main()
