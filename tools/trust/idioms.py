"""Self-contained pieces of C that random statements would hardly ever hit upon."""

from __future__ import annotations

from trust.statements import Idiom, Statements, mixer_of
from trust.types import CHAR, IntType, RecordType, declare, is_int


def _int(s: Statements) -> str:
    return s.dice.pick([item for item in s.context.ints if item.name != "_Bool"]).name


def _value(s: Statements, depth: int = 2) -> str:
    return s.expressions.pure(depth)


def _walk_array(s: Statements) -> list[str]:
    """Pointer arithmetic inside an array, forwards, backwards, with one-past-the-end."""
    type_, count = _int(s), s.dice.between(2, 6)
    values = ", ".join(_value(s, 1) for _ in range(count))
    lines = [f"{type_} a[{count}] = {{ {values} }}, *p, *end = a + {count};"]
    lines.append(
        s.dice.pick(
            (
                "for (p = a; p != end; ++p) mix((u64)*p);",
                f"for (p = a; p < end; p += {s.dice.between(1, 2)}) {{ mix((u64)*p); *p ^= 5; "
                f"if (end - p < 2) break; }}",
                "for (p = end; p > a; ) mix((u64)*--p);",
                "p = a; while (p < end) mix((u64)*p++);",
                "p = end; do mix((u64)*--p); while (p > a);",
                "p = a; while (p < end) *p++ += 3; while (p > a) mix((u64)(*--p));",
            )
        )
    )
    lines += [
        f"p = a + ({s.expressions.index(count - 1)}) + 1;",
        "mix((u64)p[-1]); mix((u64)(p - a)); mix((u64)(end - p)); mix(&p[-1] < p);",
        f"p = 1 + (p - 1); (*p){s.dice.pick(('++', '--'))}; mix((u64)*p);",
        "(*p)--; mix((u64)*(p--));",
        "mix((u64)*p); mix(p == a); mix(!p); mix(p && end);",
    ]
    if s.dice.chance(50):
        lines.append(f"mix((u64)*({type_} *)((char *)a + sizeof(a[0]))); mix(sizeof a);")
    return lines


def _matrix(s: Statements) -> list[str]:
    type_, rows, columns = _int(s), s.dice.between(2, 3), s.dice.between(2, 4)
    return [
        f"{type_} m[{rows}][{columns}] = {{",
        f"    {{ {_value(s, 1)} }}, [1] = {{ [1] = {_value(s, 1)} }} }};",
        f"{type_} (*row)[{columns}] = m, (*whole)[{rows}][{columns}] = &m;",
        f"for (int i = 0; i < {rows}; i++)",
        f"    for (int j = 0; j < {columns}; j++) m[i][j] += i * {columns} + j;",
        f"row += {s.dice.below(rows)};",
        f"mix((u64)(*row)[{s.dice.below(columns)}]); mix((u64)**m); mix((u64)*(*(m + 1) + 1));",
        f"mix((u64)(*whole)[1][{s.dice.below(columns)}]); mix(sizeof *row + sizeof *whole);",
        "mix((u64)(&m[1][1] - &m[1][0])); mix((u64)(row - m)); mix((u64)1[m[1]]);",
    ]


def _pointer_to_pointer(s: Statements) -> list[str]:
    type_ = _int(s)
    return [
        f"{type_} x = {_value(s)}, y = {_value(s)}, *p = &x, *q = &y, **pp = &p;",
        f"**pp += 3; pp = ({_value(s)}) ? &q : &p; **pp ^= 9; *pp = *pp == &x ? &y : &x;",
        f"{type_} *table[3] = {{ &x, q, [2] = p }}; {type_} **walk = table + 1;",
        "mix((u64)*p); mix((u64)*q); mix((u64)x); mix((u64)y); mix((u64)**walk++);",
        "mix((u64)*walk[0]); mix((u64)*walk[-1]); mix(table[0] == &x); mix(*pp != p);",
    ]


def _container_of(s: Statements) -> list[str]:
    structs = [
        item
        for item in s.context.structs
        if sum(1 for member in item.named if member.width is None and is_int(member.type)) > 1
    ]
    if not structs:
        return _pointer_to_pointer(s)
    record = s.dice.pick(structs)
    plain = [item for item in record.named if item.width is None and is_int(item.type)]
    inner, other = s.dice.some(plain, 2)
    return [
        f"{record.name} box = {s.expressions.initialiser(record, False)}, *back;",
        f"{declare(inner.type, '*part')} = &box.{inner.name};",
        f"back = ({record.name} *)((char *)part - offsetof({record.name}, {inner.name}));",
        f"back->{other.name} += {_value(s, 1)}; *part ^= 1; mix(back == &box);",
        f"mix((u64)back->{inner.name}); mix((u64)(*back).{other.name});",
        *mixer_of(record, "box"),
    ]


def _linked_list(s: Statements) -> list[str]:
    node, type_ = s.context.fresh("node"), _int(s)
    count = s.dice.between(2, 4)
    return [
        f"struct {node} {{ {type_} value; struct {node} *next; }} *head = NULL, **link = &head;",
        f"for (int i = 0; i < {count}; i++) {{",
        f"    struct {node} *item = malloc(sizeof *item);",
        f"    item->value = ({type_})({_value(s)} + i);",
        "    item->next = NULL; *link = item; link = &item->next;",
        "}",
        f"for (link = &head; *link; ) if ((*link)->value & {s.dice.pick((1, 2, 3))}) {{",
        f"    struct {node} *dead = *link; *link = dead->next; mix((u64)dead->value); free(dead);",
        "} else link = &(*link)->next;",
        f"while (head) {{ struct {node} *next = head->next; mix((u64)head->value); free(head);",
        "    head = next; }",
    ]


def _heap(s: Statements) -> list[str]:
    type_ = _int(s)
    first, second = s.dice.between(2, 4), s.dice.between(1, 6)
    get = s.dice.pick((f"malloc({first} * sizeof({type_}))", f"calloc({first}, sizeof *p)"))
    return [
        f"{type_} *p = {get};",
        "if (!p) abort();",
        "mix((u64)p[1]);" if get.startswith("calloc") else ";",
        f"for (int i = 0; i < {first}; i++) p[i] = ({type_})({_value(s, 1)} + i);",
        f"p = realloc(p, {second} * sizeof *p);",
        f"for (int i = {first}; i < {second}; i++) p[i] = ({type_})(i * 3);",
        f"for (int i = 0; i < {second}; i++) mix((u64)p[i]);",
        "free(p); p = NULL; free(p);",
    ]


def _flexible_member(s: Statements) -> list[str]:
    tag, type_, count = s.context.fresh("flex"), _int(s), s.dice.between(1, 4)
    return [
        f"struct {tag} {{ unsigned char count; {type_} items[]; }} *f;",
        f"f = malloc(sizeof *f + {count} * sizeof f->items[0]);",
        f"f->count = {count};",
        f"for (int i = 0; i < f->count; i++) f->items[i] = ({type_})({_value(s, 1)} ^ i);",
        "for (int i = f->count; i-- > 0; ) mix((u64)f->items[i]);",
        f"mix(sizeof *f + offsetof(struct {tag}, items)); free(f);",
    ]


def _alloca(s: Statements) -> list[str]:
    type_ = _int(s)
    return [
        f"{type_} *p = __builtin_alloca(3 * sizeof({type_}));",
        f"p[0] = p[2] = {_value(s, 1)}; p[1] = p[0] - 1; mix((u64)p[{s.expressions.index(3)}]);",
    ]


_WORDS = ("", "a", "abc", "plait", "abd", "ABC", "\\xe9t\\xe9", "x\\ty")


def _strings(s: Statements) -> list[str]:
    one, two = s.dice.pick(_WORDS), s.dice.pick(_WORDS)
    return [
        f'const char *s = "{one}", *t = "{two}"; char buffer[32];',
        "mix(strlen(s)); mix((u64)SIGN(strcmp(s, t))); mix((u64)SIGN(strncmp(s, t, 2)));",
        "strcpy(buffer, s); strcat(buffer, t); mix(strlen(buffer));",
        "for (char *p = buffer; *p; p++) {",
        f"    mix((u64)*p); if (*p == 'b') *p = ({_value(s, 1)}) | 1; }}",
        f"mix(strchr(buffer, '{s.dice.pick('abcx')}') != NULL);",
        f"strncpy(buffer, t, 8); buffer[8] = 0; mix((u64)buffer[{s.dice.below(8)}]);",
        'char copy[] = "copy", fit[4] = "four"; copy[1] ^= 1; mix(sizeof copy + sizeof fit);',
        'mix((u64)copy[1]); mix((u64)fit[3]); mix(strcmp(copy, "copy") != 0);',
        'const char *names[] = { "zero", "one", [3] = "three" }; mix(names[2] == NULL);',
        f"mix((u64)names[{s.dice.pick((0, 1, 3))}][1]); mix(sizeof names / sizeof *names);",
    ]


def _memory(s: Statements) -> list[str]:
    type_ = _int(s)
    byte = s.dice.pick(("0", "255", "0x5a", "-1"))
    return [
        f"{type_} a[4], b[4]; unsigned char bytes[sizeof a];",
        f"memset(a, {byte}, sizeof a); memset(b, 0, sizeof b); mix((u64)a[2]);",
        f"a[1] = {_value(s)}; memcpy(b, a, sizeof a - sizeof a[0]);",
        "mix((u64)SIGN(memcmp(a, b, sizeof a))); memmove(a + 1, a, 3 * sizeof *a);",
        "memcpy(bytes, a, sizeof a); for (unsigned i = 0; i < sizeof a; i += 3) mix(bytes[i]);",
        f"bytes[{s.dice.below(4)}] ^= 0x41; memcpy(&b[2], bytes, sizeof b[2]);",
        "for (int i = 0; i < 4; i++) { mix((u64)a[i]); mix((u64)b[i]); }",
        f"mix(((unsigned char *)a)[{s.dice.below(4)}]); *(unsigned char *)&b[1] = 7;",
        "mix((u64)b[1]);",
    ]


def _float_bits(s: Statements) -> list[str]:
    return [
        "union { unsigned long long w; double d; float f; unsigned half[2]; } u = { 0 };",
        f"u.d = (double)(int)({_value(s)}); mix(u.w); mix(u.half[1]);",
        f"u.f = (float)(int)({_value(s)}); mix(u.half[0]);",
        "u.half[0] = 0x3fc00000u; mix_float(u.f);",
        f"float f = (float)({_value(s, 1)}); double d = f; f += 0.1; d -= 0.1f; mix_float(f);",
        "mix_double(d); mix((f < d) | (f == d) << 1 | (d != d) << 2 | (!f) << 3); f++; --d;",
        f"f *= ({_value(s, 1)}); d /= ({_value(s, 1)}); mix_float(f); mix_double(d);",
        "mix_double(f / 3 + d * f); mix(f ? 1 : 2); mix(d && f); mix((_Bool)0.25);",
        "mix(sizeof(f + 1) + sizeof(f + 1.0) * 16);",
    ]


def _bit_fields(s: Statements) -> list[str]:
    """The layout of bit-fields, seen through a union."""
    a, b, c = s.dice.between(1, 9), s.dice.between(1, 20), s.dice.between(1, 31)
    return [
        "union { unsigned long long w[2]; struct { "
        f"unsigned a : {a}; int b : {b}; unsigned short c : {s.dice.between(1, 16)}; "
        f"signed char d : {s.dice.between(1, 8)}; int : {s.dice.pick((0, 3))}; int e : {c}; "
        "_Bool f : 1; } s; } u = { { 0, 0 } };",
        f"u.w[0] = {_value(s)}; u.s.a = {_value(s)}; u.s.b = {_value(s)}; u.s.c += {_value(s, 1)};",
        "mix(u.w[0]); mix(u.w[1]); u.s.d--; u.s.e ^= 0x155; u.s.f = 2; u.s.b++; ++u.s.d;",
        "mix(u.w[0]); mix(u.w[1]); mix((u64)u.s.b); mix((u64)u.s.d); mix((u64)(u.s.e - 1));",
        "mix((u64)(u.s.c << 3)); mix((u64)(u.s.a - 2)); mix((u64)-u.s.f); mix(sizeof u.s);",
        f"mix((u64)(u.s.b = {_value(s)})); mix((u64)(u.s.a += 7)); mix((u64)(u.s.f--));",
    ]


def _duff(s: Statements) -> list[str]:
    """A switch into a loop."""
    return [
        f"int n = {s.dice.between(1, 3)}; unsigned k = 0;",
        f"switch (({_value(s)}) & 3) {{",
        "case 0: do { k += 1;",
        "case 3:      k *= 3;",
        "case 2:      k ^= 5;",
        "default:     mix(k);",
        "        } while (--n > 0);",
        "}",
        "mix(k);",
    ]


def _nested_switch(s: Statements) -> list[str]:
    done = s.context.fresh("done")
    return [
        f"for (unsigned char c = 0; c < 12; c += {s.dice.between(1, 4)}) {{",
        f"    switch (c ^ (({_value(s, 1)}) & 3)) {{",
        "    case 0 ... 2: mix(1); continue;",
        "    case 3: switch (c & 1) { case 0: break; default: mix(2); } /* fall through */",
        "    case 4: mix(3); break;",
        "    case 'a': case 7 ... 9: { int t = c; mix((u64)(t * t)); } break;",
        f"    default: if (c == 10) goto {done}; mix(4);",
        "    }",
        "    mix(c);",
        "}",
        f"{done}: mix(5);",
    ]


def _typeof(s: Statements) -> list[str]:
    type_ = _int(s)
    return [
        f"{type_} x = {_value(s)}; typeof(x) y = x; __typeof__(&x) p = &y; typeof(x + 1L) z = y;",
        "*p -= 2; z += *p; typeof(x) a[2] = { x, y }; mix((u64)a[1]); mix((u64)z);",
        "typedef typeof(a) pair; pair q = { [1] = a[0] }; mix((u64)q[0]); mix((u64)q[1]);",
        "mix(sizeof(pair) + _Alignof(int));",
    ]


def _short_circuit(s: Statements) -> list[str]:
    return [
        f"int a = ({_value(s)}) & 1, b = ({_value(s)}) & 1, n = 0;",
        "int r = (a && ++n) || (b && (n += 10)) || !(n = n + 100);",
        "mix((u64)r); mix((u64)n); r = a ? b ? 1 : 2 : n++ ? 3 : 4; mix((u64)r);",
        "r = (n++, n--, n) ?: -1; mix((u64)r); r = n-- ?: 5; mix((u64)(r + n));",
        "if (a || (n = 3, b)) mix((u64)n); else mix(77); while (n > 90 && n--) if (n & 1) break;",
        "mix((u64)n); mix(!!n + !a * 2);",
    ]


def _functions(s: Statements) -> list[str]:
    """Function pointers: variables, tables, members, comparison."""
    if len(s.context.operations) < 2:
        return _short_circuit(s)
    one, two = s.dice.pick(s.context.operations), s.dice.pick(s.context.operations)
    return [
        f"int (*f)(int, long long) = {one}, (**ff)(int, long long) = &f;",
        f"struct {{ int tag; operation *run; }} entry = {{ 1, &{two} }}, *e = &entry;",
        f"mix((u64)f({_value(s, 1)}, 2)); mix((u64)(*f)(1, {_value(s, 1)}));",
        f"mix((u64)(**ff)(3, 4)); mix((u64)e->run(5, 6)); mix(f == {two}); mix(e->run != *ff);",
        f"e->run = operations[{s.expressions.index(len(s.context.operations))}];",
        f"mix((u64)apply(e->run, ({_value(s, 1)}) & 7)); mix((u64)(e->tag ? f : e->run)(7, 8));",
    ]


def _integer_limits(s: Statements) -> list[str]:
    """Conversions and operators at the edges of the types."""
    one, two = _int(s), _int(s)
    return [
        f"{one} x = {s.expressions.constant()}; {two} y = {s.expressions.constant()};",
        "mix((u64)(x + y)); mix((u64)(x - y)); mix((u64)(x * y)); mix((u64)(x & y));",
        "mix((u64)(x < y)); mix((u64)(x == y)); mix((u64)-x); mix((u64)~y); mix((u64)(x >> 3));",
        f"x = y; y += x; x -= 1; mix((u64)x); mix((u64)y); y = ({two})(x << 5); mix((u64)y);",
        "mix((u64)(x / 3)); mix((u64)(x % 3)); mix((u64)(y / -7)); mix((u64)(y % -7));",
        "mix((u64)(1 ? x : y)); mix((u64)(x > 0 ? y : -1)); _Bool b = x; mix(b); b--; mix(b);",
        "b += 5; mix(b); b ^= 1; mix(b); b = 0.5; mix(b); b = &x; mix(b++); mix(--b);",
        "mix((u64)(char)x); mix((u64)(unsigned short)y); mix((u64)(long)(int)x);",
    ]


def _overflow_builtins(s: Statements) -> list[str]:
    type_ = _int(s)
    if "128" in type_ or "enum" in type_:
        type_ = "long long"
    name = s.dice.pick(("add", "sub", "mul"))
    return [
        f"{type_} r, x = {_value(s)}, y = {_value(s)};",
        f"mix(__builtin_{name}_overflow(x, y, &r)); mix((u64)r);",
    ]


def _compound_literals(s: Statements) -> list[str]:
    record: RecordType | None = s.dice.pick(s.context.structs) if s.context.structs else None
    lines = [
        f"int *p = (int[]){{ 1, {_value(s, 1)}, [3] = 4 }}; p[2] += 5;",
        "for (int i = 0; i < 4; i++) mix((u64)p[i]);",
        f"mix((u64)(char){{ {_value(s, 1)} }}); mix(sizeof((short[]){{ 1, 2, 3 }}));",
    ]
    if record is not None:
        literal = s.expressions.initialiser(record, False)
        lines.append(f"{record.name} *r = &({record.name}){literal}, copy = *r;")
        lines += mixer_of(record, "(*r)") + mixer_of(record, "copy")
    return lines


def _anonymous(s: Statements) -> list[str]:
    return [
        "struct { int tag; union { unsigned u; struct { short low, high; }; }; char tail[3]; }",
        f'    a = {{ .u = {_value(s, 1)}, .tail = "xy" }}, b = {{ 3 }}, *p = &a;',
        f"a.high = {_value(s, 1)}; p->tag--; b = *p; b.low ^= 3; mix(b.u); mix((u64)a.low);",
        "mix((u64)b.tag); mix((u64)p->tail[1]); mix(a.u == b.u); mix(sizeof a);",
    ]


def _enumeration(s: Statements) -> list[str]:
    tag = s.context.fresh("color")
    return [
        f"enum {tag} {{",
        f"    {tag}_A, {tag}_B = {s.dice.between(-3, 9)}, {tag}_C, {tag}_D = {tag}_B * 2 }};",
        f"enum {tag} e = {tag}_C, list[] = {{ {tag}_D, {tag}_A }};",
        f"e += {_value(s, 1)}; mix((u64)e);",
        f"mix((u64)(e > {tag}_D)); mix((u64)(list[0] - {tag}_B)); mix((u64)-e); e++; mix((u64)e);",
        f"switch (list[0]) {{ case {tag}_A: mix(1); default: mix(2); }}",
    ]


def _char_view(s: Statements) -> list[str]:
    type_: IntType = s.dice.pick([item for item in s.context.ints if item != CHAR])
    return [
        f"{type_.name} x = {_value(s)}; unsigned char *bytes = (unsigned char *)&x;",
        "for (unsigned i = 0; i < sizeof x; i++) mix(bytes[i]);",
        "void *v = &x; const char *c = v; mix((u64)*c); mix(v == (void *)bytes);",
        "mix((u64)((char *)(&x + 1) - (char *)&x)); mix(((unsigned long)v - (unsigned long)c));",
    ]


IDIOMS: list[tuple[str, Idiom]] = [
    ("pointers", _walk_array),
    ("arrays", _matrix),
    ("pointers", _pointer_to_pointer),
    ("structs", _container_of),
    ("heap", _linked_list),
    ("heap", _heap),
    ("heap", _flexible_member),
    ("heap", _alloca),
    ("strings", _strings),
    ("strings", _memory),
    ("floats", _float_bits),
    ("bitfields", _bit_fields),
    ("switch", _duff),
    ("switch", _nested_switch),
    ("generic", _typeof),
    ("effects", _short_circuit),
    ("function-pointers", _functions),
    ("effects", _integer_limits),
    ("builtins", _overflow_builtins),
    ("structs", _compound_literals),
    ("unions", _anonymous),
    ("enums", _enumeration),
    ("pointers", _char_view),
]
