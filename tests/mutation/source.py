"""A C file as tokens: what is code and what is not, which brackets match, which tokens are bodies of functions.

No parser: the headers are formatted, and a mutant that is no C is not counted. Comments, strings and
preprocessor lines are no code.
"""
import re

TOKEN = re.compile(r"""
    (?P<space>\s+)
  | (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<string>(?:u8|[LuU])?"(?:\\.|[^"\\\n])*")
  | (?P<char>[LuU]?'(?:\\.|[^'\\\n])*')
  | (?P<number>\.?[0-9](?:[eEpP][+-]|[0-9a-zA-Z_.])*)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<mark>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\s\w])
""", re.X | re.S)
DIRECTIVE = re.compile(r"[ \t]*\#(?:/\*.*?\*/|\\\n|[^\n])*", re.S)

KEYWORDS = set("""auto break case const continue default do else enum extern for goto if inline register
    restrict return signed sizeof static struct switch typedef union unsigned void volatile while""".split())
TYPE_WORDS = set("""void char short int long float double signed unsigned bool _Bool const volatile struct union
    enum static extern register typedef inline FILE pthread_t COLL_ATOMIC""".split())
CLOSING = {")": "(", "]": "[", "}": "{"}


class Token:
    __slots__ = ("kind", "text", "start", "end", "line")

    def __init__(self, kind, text, start, line):
        self.kind, self.text, self.start, self.line = kind, text, start, line
        self.end = start + len(text)


class Source:
    """`tokens`: of the code. `match[i]`: the other bracket. `inner[i]`: the bracket that token i lies in, or -1.
    `owner[i]`: the function whose body token i is in, or the table whose values it is among, or None;
    `in_body[i]`: the former. `returns[function]`: its result's type, as text."""

    def __init__(self, text, types=()):
        self.text = text
        self.types = TYPE_WORDS | set(types)
        self.tokens = tokens(text)
        self._match()
        self._own()

    def _match(self):
        self.match, self.inner, stack = {}, [], []
        for i, token in enumerate(self.tokens):
            if token.kind == "mark" and token.text in CLOSING:
                if stack and self.tokens[stack[-1]].text == CLOSING[token.text]:
                    self.match[i] = stack[-1]
                    self.match[stack.pop()] = i
                elif token.text == "}" and self._column(token) == 0:
                    stack = []  # both branches of an #if opened one
            self.inner.append(stack[-1] if stack else -1)
            if token.kind == "mark" and token.text in "([{":
                stack.append(i)

    def _column(self, token):
        return token.start - (self.text.rfind("\n", 0, token.start) + 1)

    def _own(self):
        self.owner = [None] * len(self.tokens)
        self.in_body = [False] * len(self.tokens)
        self.returns = {}
        i = 0
        while i < len(self.tokens):
            text, before = self.tokens[i].text, self.text_at(i - 1)
            if text in ("COLL_CONST", "COLL_TABLE") and i + 1 in self.match:  # (type, name, {…})
                end, k = self.match[i + 1], i + 2
                while k < end and self.tokens[k].text != "{":
                    k += 1
                for value in range(k, end):
                    self.owner[value] = self.text_at(k - 2)
                i = end
            elif text in ("COLL_ALGORITHM", "COLL_COMPOSITE") and i + 1 in self.match and before != "define":  # (name, …)
                end = self.match[i + 1]
                for value in range(i + 4, end):
                    self.owner[value] = self.text_at(i + 2)
                i = end
            elif text == "{" and before == ")" and i in self.match:
                name = self._name_before(self.match.get(i - 1, 0))
                for k in range(i + 1, self.match[i]):
                    self.owner[k], self.in_body[k] = name, True
                i = self.match[i]
            elif text == "{" and before != "=" and i in self.match and self.tokens[i - 1].kind != "string":
                i = self.match[i]  # a type
            elif text == "=":
                name, k = self.text_at(i - 1), i + 1
                if name == "]":
                    name = self.text_at(self.match.get(i - 1, 1) - 1)
                while k < len(self.tokens) and self.tokens[k].text != ";":
                    self.owner[k] = name
                    k += 1
                i = k
            i += 1

    def _name_before(self, opening):
        at = opening - 1
        name, kind = self.text_at(at), []
        while at > 0 and (self.tokens[at - 1].kind == "name" or self.tokens[at - 1].text == "*"):
            at -= 1
            kind.insert(0, self.tokens[at].text)
        self.returns[name] = " ".join(k for k in kind if not (k.isupper() or k in ("static", "inline", "const")))
        return name

    def text_at(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def is_type(self, text):
        return text in self.types or text.endswith("_t")

    def is_cast(self, closing):
        """Does the bracket close a cast?"""
        opening = self.match.get(closing)
        if opening is None or closing - opening < 2:
            return False
        if self.tokens[opening - 1].kind == "name" and self.text_at(opening - 1) not in ("return", "case"):
            return False  # sizeof, a call, if
        words = [t.text for t in self.tokens[opening + 1:closing]]
        while words and words[-1] in ("*", "const"):
            words.pop()
        return bool(words) and all(self.is_type(w) or (words[0] in ("struct", "enum", "union")) for w in words)

    def is_binary(self, i):
        """Does an operator at token i have a left operand?"""
        before = self.tokens[i - 1]
        if before.kind in ("number", "char", "string"):
            return True
        if before.kind == "name":
            return before.text not in KEYWORDS and not self.is_type(before.text)
        if before.text == ")":
            return not self.is_cast(i - 1) and not self.ends_head(i - 1)
        return before.text == "]"

    def ends_head(self, closing):
        """Does the bracket close the head of an if, for, while or switch?"""
        opening = self.match.get(closing)
        return opening is not None and self.text_at(opening - 1) in ("if", "for", "while", "switch")

    def starts_statement(self, i):
        """Is token i the first one of a statement?"""
        if not self.in_body[i] or self.text_at(self.inner[i]) not in ("{", ""):
            return False
        before = self.text_at(i - 1)
        if before in (";", "{", "}", "else", "do"):
            return not (before == "{" and self.text_at(self.inner[i] - 1) in ("=", ",", "{"))
        if before == ")":
            return self.ends_head(i - 1)
        return before == ":" and self.label_start(i - 1) is not None

    def label_start(self, colon):
        """The token that begins the label that ends at `colon`; None if it is another colon."""
        at = colon - 1
        while at >= 0 and self.text_at(at) not in (";", "{", "}", "?", ":"):
            if self.text_at(at) in ("case", "default"):
                return at
            at -= 1
        if at == colon - 2 and self.tokens[colon - 1].kind == "name" and self.text_at(at) != "?":
            return colon - 1  # of a goto
        return None

    def declares(self, i):
        """Does the statement that begins at token i declare something?"""
        first = self.tokens[i]
        if first.kind != "name":
            return False
        if self.is_type(first.text) or self.text_at(i + 1) == "*" and self.tokens[i + 2].kind == "name" \
                and self.text_at(i + 3) in ("=", ";", ",", "["):
            return True
        return self.tokens[i + 1].kind == "name"

    def end_of_statement(self, i):
        """The token of the semicolon that ends the statement without a head that begins at token i."""
        while i < len(self.tokens) and self.text_at(i) != ";":
            i = self.match[i] if self.text_at(i) in ("(", "[", "{") and i in self.match else i
            i += 1
        return i

    def arguments(self, opening):
        """First and last token of each argument between the brackets."""
        found, first, i = [], opening + 1, opening + 1
        while i < self.match[opening]:
            if self.text_at(i) == ",":
                found.append((first, i - 1))
                first = i + 1
            elif self.text_at(i) in ("(", "[", "{") and i in self.match:
                i = self.match[i]
            i += 1
        if first < self.match[opening]:
            found.append((first, i - 1))
        return found

    def span(self, first, last):
        return self.text[self.tokens[first].start:self.tokens[last].end]


def tokens(text):
    """The tokens that are code."""
    found, at, line, fresh = [], 0, 1, True
    while at < len(text):
        directive = DIRECTIVE.match(text, at) if fresh else None
        if directive:
            line += directive.group().count("\n")
            at = directive.end()
            continue
        match = TOKEN.match(text, at)
        kind, what = match.lastgroup, match.group()
        if kind not in ("space", "comment"):
            found.append(Token(kind, what, at, line))
            fresh = False
        elif "\n" in what:
            fresh = kind == "space" or fresh
        line += what.count("\n")
        at = match.end()
    return found


def type_names(text):
    """Names that a header declares as types."""
    names = set(re.findall(r"^\}\s*(\w+)\s*;", text, re.M))
    names |= set(re.findall(r"^typedef\s[^;{(]*?\b(\w+)(?:\[[^]]*\])?;", text, re.M))
    return names | set(re.findall(r"^typedef\s[^;{]*?\(\s*\*?\s*(\w+)\)?\s*\(", text, re.M))
