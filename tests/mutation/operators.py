"""The mutants of a file: each is a piece of it and what stands there instead.

What is mutated: bodies of functions, and the values of tables (their numbers and operators alone).
"""
import hashlib

from source import Source

RELATIONS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}
ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "<<": ">>", ">>": "<<",
              "+=": "-=", "-=": "+=", "*=": "+=", "/=": "*=", "%=": "/=", "<<=": ">>=", ">>=": "<<="}
BITS = {"&": "|", "|": "&", "^": "|", "&=": "|=", "|=": "&=", "^=": "|="}
LOGIC = {"&&": "||", "||": "&&"}
STEPS = {"++": "--", "--": "++"}
NO_CALLS = {"if", "for", "while", "switch", "return", "sizeof", "COLL_PARAMS", "COLL_BINDINGS", "defined", "case"}

OPERATORS = {
    "relation": "< <= > >= == != become another one",
    "arithmetic": "+ - * / % << >> and their assignments; a minus dropped",
    "bits": "& | ^ and their assignments; a ~ dropped",
    "logic": "&& and || exchanged; a condition negated; a ! dropped",
    "constant": "a number one more or less; true and false",
    "step": "++ and -- exchanged",
    "drop": "a statement dropped: an assignment, a call, break, continue, a bare return, a case",
    "return": "another result: 0, one more, the opposite",
    "arguments": "two neighbouring arguments of a call exchanged",
    "ternary": "the arms of ?: exchanged, or one of them twice",
}


class Mutant:
    """`path`: of the file, below include/coll; `old` and `new`: the lines that it touches, in one."""

    def __init__(self, source, path, operator, start, end, text):
        lost = source.text.count("\n", start, end) - text.count("\n")
        text += "\n" * lost  # what follows keeps its line numbers
        self.path, self.operator, self.start, self.end, self.text = path, operator, start, end, text
        first = source.text.rfind("\n", 0, start) + 1
        last = source.text.find("\n", end)
        whole = source.text
        self.line = whole.count("\n", 0, start) + 1
        self.column = start - first + 1
        self.old = " ".join(whole[first:last].split())
        self.new = " ".join((whole[first:start] + text + whole[end:last]).split())
        self.function = None
        self.id = "%s:%d:%d:%s:%s" % (path, self.line, self.column, operator,
                                      hashlib.sha1(text.encode()).hexdigest()[:4])

    def key(self):
        """What it is, wherever in the file it stands."""
        return self.path, self.function, self.old, self.new

    def apply(self, text):
        return text[:self.start] + self.text + text[self.end:]

    def diff(self):
        return "@ %s %s (line %d, %s)\n- %s\n+ %s\n" % (
            self.path, self.function, self.line, self.operator, self.old, self.new)


def mutants(text, path, types=()):
    """All mutants of a file, in the order of their places."""
    source, found, seen = Source(text, types), [], set()
    for i, token in enumerate(source.tokens):
        if source.owner[i] is None:
            continue
        for operator, start, end, what in _at(source, i, token):
            mutant = Mutant(source, path, operator, start, end, what)
            mutant.function = source.owner[i]
            piece = _least(text, mutant)
            if piece not in seen:
                seen.add(piece)
                found.append(mutant)
    return found


def _least(text, mutant):
    """What really changes: two operators may make the same of different pieces."""
    start, end, what = mutant.start, mutant.end, mutant.text
    while start < end and what and text[start] == what[0]:
        start, what = start + 1, what[1:]
    while start < end and what and text[end - 1] == what[-1]:
        end, what = end - 1, what[:-1]
    return start, end, what


def _at(source, i, token):
    if token.kind == "number":
        yield from _constant(source, i, token)
    elif token.kind == "mark":
        yield from _mark(source, i, token)
        if token.text == "?" and source.in_body[i]:
            yield from _ternary(source, i)
        elif token.text == "(" and source.in_body[i]:
            yield from _arguments(source, i)
    elif token.text in ("true", "false"):
        yield "constant", token.start, token.end, "false" if token.text == "true" else "true"
    elif token.text in ("if", "while") and source.text_at(i + 1) == "(" and source.in_body[i]:
        last = source.match[i + 1]
        if last > i + 2:
            first = source.tokens[i + 1].end
            end = source.tokens[last].start
            yield "logic", first, end, "!(" + source.text[first:end] + ")"
    if source.starts_statement(i):
        yield from _statement(source, i, token)


def _constant(source, i, token):
    digits = token.text.rstrip("uUlL")
    suffix = token.text[len(digits):]
    try:
        value = int(digits, 0) if not digits.startswith("0") or digits[1:2] in "xX" else int(digits, 8)
    except ValueError:
        return  # a floating one
    if source.text_at(i - 1) == "[" and _is_dimension(source, i) or _is_of_grid(source, i):
        return
    for other in ([1] if value == 0 else [value - 1, value + 1]):
        yield "constant", token.start, token.end, "%d%s" % (other, suffix)


def _is_dimension(source, i):
    """Is the number in an array's declaration? There one more changes nothing, and one less is for sanitizers."""
    if source.text_at(i + 1) != "]":
        return False
    at = i - 2  # the array's name
    while at > 0 and source.text_at(at) not in (";", "{", "}", "(", ")"):
        at -= 1
    return source.declares(at + 1) and "=" not in [t.text for t in source.tokens[at + 1:i]]


def _is_of_grid(source, i):
    """Is the number of a parameter's table what it is proven with, or its default value?"""
    if source.in_body[i] or not source.owner[i].endswith("_params"):
        return False
    around = source.inner[source.inner[i]]
    return source.text_at(i + 2) == "{" or around >= 0 and source.inner[around] >= 0


def _mark(source, i, token):
    text, start, end = token.text, token.start, token.end
    for other in RELATIONS.get(text, ()):
        yield "relation", start, end, other
    if text in ARITHMETIC and (text not in "+-*" or source.is_binary(i)):
        yield "arithmetic", start, end, ARITHMETIC[text]
    elif text == "-" and not source.is_binary(i):
        yield "arithmetic", start, end, ""
    if text in BITS and (text != "&" or source.is_binary(i)):
        yield "bits", start, end, BITS[text]
    elif text == "~":
        yield "bits", start, end, ""
    if text in LOGIC:
        yield "logic", start, end, LOGIC[text]
    elif text == "!":
        yield "logic", start, end, ""
    if text in STEPS:
        yield "step", start, end, STEPS[text]


def _ternary(source, i):
    """The arms: up to its colon, and up to what ends the expression."""
    deep, colon = 0, i + 1
    while colon < len(source.tokens):
        text = source.text_at(colon)
        if text in ("(", "[", "{"):
            colon = source.match[colon]
        elif text == "?":
            deep += 1
        elif text == ":":
            if deep == 0:
                break
            deep -= 1
        colon += 1
    last, deep = colon + 1, 0
    while last < len(source.tokens):
        text = source.text_at(last)
        if text in ("(", "[", "{"):
            last = source.match[last]
        elif text == "?":
            deep += 1
        elif text == ":" and deep > 0:
            deep -= 1
        elif text in (";", ",", ")", "]", "}", ":"):
            break
        last += 1
    if colon == i + 1 or last == colon + 1:
        return
    start, end = source.tokens[i + 1].start, source.tokens[last - 1].end
    one, other = source.span(i + 1, colon - 1), source.span(colon + 1, last - 1)
    if one == other:
        return
    between = source.text[source.tokens[colon - 1].end:source.tokens[colon + 1].start]
    bracketed = "(" + other + ")" if "?" in other else other
    yield "ternary", start, end, bracketed + between + one
    yield "ternary", start, end, one + between + one
    yield "ternary", start, end, bracketed + between + other


def _arguments(source, opening):
    before = source.tokens[opening - 1]
    if before.kind != "name" or before.text in NO_CALLS or source.is_type(before.text):
        return
    arguments = source.arguments(opening)
    for (a, b), (c, d) in zip(arguments, arguments[1:]):
        one, other = source.span(a, b), source.span(c, d)
        if one != other:
            between = source.text[source.tokens[b].end:source.tokens[c].start]
            yield "arguments", source.tokens[a].start, source.tokens[d].end, other + between + one


def _statement(source, i, token):
    end = source.end_of_statement(i)
    if end >= len(source.tokens):
        return
    stop = source.tokens[end].end
    if token.text == "return" and end > i + 1:
        yield from _result(source, i, end)
    elif token.text in ("case", "default"):
        colon = i
        while source.text_at(colon) != ":":
            colon += 1
        yield "drop", token.start, source.tokens[colon].end, ""
    elif token.text in ("break", "continue", "return", "goto") or token.text in ("*", "(", "++", "--") \
            or token.kind == "name" and token.text not in NO_CALLS | {"else", "do", "typedef"} \
            and not source.declares(i) and source.text_at(i + 1) != ":":
        if not (token.text == "(" and source.text_at(i + 1) == "void"):  # (void)unused;
            yield "drop", token.start, stop, ";"


def _result(source, i, end):
    first, last = source.tokens[i + 1], source.tokens[end - 1]
    value = source.text[first.start:last.end]
    kind = source.returns.get(source.owner[i], "")
    if kind == "bool":
        if value not in ("true", "false"):
            yield "return", first.start, last.end, "!(" + value + ")"
    elif kind and kind != "void":
        if value not in ("0", "NULL", "0u"):
            yield "return", first.start, last.end, "0"
        if "*" not in kind and first.kind != "number":
            yield "return", first.start, last.end, "(" + value + ") + 1"
