"""The override parser: the same answer as hydra-core on every known word, and what it says of words with holes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from verlint.languages.hydra.override import Form, Override, is_override_like, parse_override
from verlint.source import Source, Span
from verlint.value import Hole, Hop, Literal, Part, State, Text, show


@dataclass(frozen=True)
class Reading:
    """An accepted word in a form that can be compared; `data` is None for a sweep, "open" when it is not one value."""

    form: str
    key: str
    package: str
    sweep: bool
    data: object


Oracle = Callable[[str], Reading | None]


@pytest.fixture(scope="module")
def hydra() -> Oracle:
    """hydra-core's own parser: what it reads in a word, None when it refuses it."""
    module = pytest.importorskip("hydra.core.override_parser.overrides_parser", reason="hydra-core is not installed")
    types = pytest.importorskip("hydra.core.override_parser.types")
    parser = module.OverridesParser.create()
    forms = {"CHANGE": "SET", "ADD": "ADD", "FORCE_ADD": "FORCE", "DEL": "DELETE"}

    def comparable(data: Any) -> Any:
        if isinstance(data, (types.Sweep, types.Glob)):
            raise LookupError
        if isinstance(data, list):
            return [comparable(item) for item in data]
        return {show(key): comparable(item) for key, item in data.items()} if isinstance(data, dict) else data

    def read(word: str) -> Reading | None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = parser.parse_override(word)
            except Exception:  # HydraException, and what its casts let through
                return None
        sweep = found.is_sweep_override()
        try:
            data = None if sweep else typed(comparable(found.value()))
        except LookupError:
            data = "open"
        return Reading(forms[found.type.name], found.key_or_group, found.package or "", sweep, data)

    return read


def typed(data: Any) -> object:
    """Data with the type of each scalar beside it: 1, 1.0 and True differ, nan is like nan."""
    if isinstance(data, list):
        return [typed(item) for item in data]
    if isinstance(data, dict):
        return {key: typed(item) for key, item in data.items()}
    return (type(data).__name__, repr(data))


def word(text: str) -> Text:
    """A known word, written as it is."""
    span = Source("run.sh", text).whole()
    return Text((Literal(text, span),), span)


def template(text: str, elastic: bool = False) -> Text:
    """A word in which each `<NAME>` is a hole; every piece has its place."""
    source = Source("run.sh", text)
    parts: list[Part] = []
    at = 0
    while at < len(text):
        end = text.find("<", at) if text[at] != "<" else text.index(">", at) + 1
        end = len(text) if end < 0 else end
        piece, span = text[at:end], Span(source, at, end)
        name = piece[1:-1]
        parts.append(Hole(name, name, "environment variable", span) if piece[0] == "<" else Literal(piece, span))
        at = end
    return Text(tuple(parts), source.whole(), elastic)


def parsed(text: Text) -> Override:
    override = parse_override(text)
    assert override is not None
    return override


def reading(text: str) -> Reading | None:
    found = parsed(word(text))
    if found.error is not None:
        return None
    value = found.value
    data: object = typed(value.data)
    if found.sweep:
        data = None
    elif value.state is State.UNKNOWN:
        data = "open"
    return Reading(found.form.name, found.key, found.package, found.sweep, data)


def agree(text: str, hydra: Oracle) -> None:
    mine, theirs = reading(text), hydra(text)
    if mine is not None and theirs is not None and mine.data == "open" and "shuffle" in text:
        theirs = Reading(theirs.form, theirs.key, theirs.package, theirs.sweep, "open")
    assert mine == theirs


TRICKY = r"""
data.train_batch_size=128
+data.train_batch_size=128
++data.train_batch_size=128
~data.train_batch_size
~data.train_batch_size=128
+++a=1
+~a=1
~+a=1
~~a
a
+a
++a
~
~=
=v
+=1
a=
a= x
a==b
a =1
 a=1
a=b=c
a=b = c
a.b=c.d
a.b.c-d=1
a-b=1
a..b=1
a.=1
.a=1
a.0=1
0.a=1
0=1
a.01=1
a.1_0=1
a.1_=1
a._0=1
a.0b=1
$a=1
a.$b=1
a$b.c=1
a/b=c
a/b/c=d
a/=c
/a=c
~/a=c
~/data
a//b=c
a.b/c=1
a/$b=1
a/0=1
a@b=c
a@b.c=d
a/b@c=d
a/b@c.d=e
a@=c
@b=c
@=c
a@b@c=d
a@b:c=d
a@b/c=d
~a@b
+a@_global_=c
a[0]=1
a.b[0]=1
a b=1
a:b=1
é=1
a=é
a="é"
a=1
a=-1
a=+1
a=- 1
a=0
a=00
a=08
a=0x10
a=1_000
a=1__000
a=_1
a=1_
a=1-2
a=1:2
a=1e-6
a=1E6
a=1e
a=1e+
a=1_0e1_0
a=1.
a=.5
a=-.5
a=.
a=1.2.3
a=1.e5
a=1_0.5_0
a=inf
a=-inf
a=+INF
a=infinity
a=-infinity
a=nan
a=-NaN
a=true
a=TRUE
a=tRuE
a=true1
a=yes
a=on
a=null
a=NULL
a=none
a=nulls
a=hello world
a=1 2
a=true false
a='x'
a="x"
a='x'y
a=x'y'
a='x' 'y'
a='1'
a='true'
a='null'
a=''
a=""
a="a'b"
a='a"b'
a='a\'b'
a='a\\'
a='a\\\'b'
a='a\\\\'
a='\\'
a='\n'
a="\""
a="a\"b\\"
a='
a='x
a=it's
a='it's'
a="x\"
a=a\,b
a=a\ b
a=\ b
a=a\\b
a=a\b
a=\
a=\\
a=\[x\]
a=\{\}
a=a\=b
a=a\:b
a=a\(b\)
a=a\'b
a=/p/q-r.parquet
a=~/data
a=x~y
a=#x
a=x#y
a=x;y
a=x&y
a=x<y
a=x!
a=x^2
a=`x`
a=$HOME
a=${x}
a=${x.y}/z
a=${oc.env:USER,me}
a=${x
a=${}
a=${a.${b}}
a=[${x},${y}]
a=$
a=${x}{y}
a=x:y
a=x : y
a=:
a=x:
a=s3://b/k
a=a@b?c*d%e|f+g
a=[]
a=[ ]
a=[a]
a=[a,b]
a=[ a , b ]
a=[a b, c]
a=[a,]
a=[,a]
a=[,]
a=[a
a=a]
a=[a]]
a=[a]b
a=b[a]
a=[[1,2],[3]]
a=['a',"b",c,1,1.0,true,null]
a=['console','wandb']
a=[/a/b.parquet,/c/d.parquet]
a=[a=b]
a={}
a={ }
a={a:1}
a={a: 1, b : [x]}
a={a:1,a:2}
a={1:2,true:3,1.0:4}
a={null:1}
a={a b:c}
a={a:b:c}
a={'x':1}
a={"x":1}
a={a}
a={a:}
a={:1}
a={a:1,}
a={a:1
a={a:1]
a={a:{b:{c:[1,{d:2}]}}}
a={${x}:1}
a={a.b/c:1}
a={a\:b:1}
a=}
a={a:1}b
a=1,2
a=1, 2
a=1,
a=,1
a=,
a=[1],[2]
a={x:1},{x:2}
a='x','y'
a=choice(a,b)
a=choice()
a=choice(a)
a=choice([a,b])
a=choice(1,2),3
a=choice(choice(1,2))
a=choice(shuffle(1,2))
a=choice(null)
a=choice(range(1,2))
a=range(3)
a=range(1,10,2)
a=range(1.0,2.0,0.1)
a=range(start=1,stop=3)
a=range(1,stop=null)
a=range(1,start=2)
a=range(a,b)
a=range()
a=range(1,2,3,4)
a=range(true,3)
a=interval(0,1)
a=interval(0.1,1)
a=interval(1)
a=interval(a,1)
a=glob(*)
a=glob([a*,b*],exclude=c*)
a=glob(exclude=a)
a=glob(1)
a=tag(x,y,choice(1,2))
a=tag(choice(1,2))
a=tag(sweep=choice(1,2))
a=tag(x,sweep=range(1,2))
a=tag(1,choice(1,2))
a=tag(x)
a=tag(glob(*))
a=sort(3,1,2)
a=sort([3,1,2])
a=sort([3,1,2],reverse=true)
a=sort([3,1],reverse=1)
a=sort([b,a])
a=sort(['b','a'])
a=sort('b','a')
a=sort([1,a])
a=sort(1)
a=sort()
a=sort(list=[2,1])
a=sort(sweep=choice(2,1))
a=sort(range(5,1))
a=sort(interval(1,2))
a=sort({a:1})
a=shuffle([1])
a=shuffle([1,2])
a=shuffle(a,b)
a=shuffle()
a=shuffle(x)
a=shuffle(range(1,5))
a=shuffle(interval(1,5))
a=sort(shuffle([3,1,2]))
a=int(3.7)
a=int('3')
a=int(abc)
a=int(null)
a=int([1,'2',3.5])
a=int({a:'1',b:2.5})
a=int(inf)
a=int(nan)
a=int(true)
a=int(1,2)
a=int(value=3.5)
a=int(3,value=4)
a=int(value=1,value=2)
a=int(other=1)
a=int()
a=int(choice(1.5,2.5))
a=int(choice(a,b))
a=int(interval(1,2))
a=int(range(1.0,3.0))
a=int(glob(*))
a=float(1)
a=float('1e-6')
a=float(x)
a=float([1,[2]])
a=str(1)
a=str(1e-6)
a=str(true)
a=str([1,true,'x'])
a=str(null)
a=str([null])
a=str(interval(1,2))
a=str(range(1,2))
a=bool(1)
a=bool(0.0)
a=bool('TRUE')
a=bool(no)
a=bool(null)
a=bool([1,null])
a=bool([glob(*)])
a=str(int(1.5))
a=[int(1.5),str(2)]
a={x:int(1.5)}
a=[choice(1,2)]
a=[1,2](3)
a=foo(1)
a=foo (1)
a=int (1)
a=int( 1 )
a=int(1)x
a=x int(1)
a=true(1)
a=inf(1)
a=(1)
a=f(
a=int(1
a=int(1))
a=int(a,b=1,c)
a=int(1,)
a=json_str(x)
a=extend_list(1,2)
a=a(b)c
hydra.run.dir=outputs/${now:%Y-%m-%d}
hydra/launcher=submitit
model_engine=megatron
actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct
trainer.logger=[console,wandb]
trainer.logger=["console","wandb"]
+trainer.kwargs={'timeout': 3600}
+trainer.kwargs={timeout: 3600, hosts: [a, b]}
trainer.experiment_name=lr=1e-6
data.train_files=~/data/train.parquet
data.train_files="['/a b/c.parquet']"
data.train_files=['/a b/c.parquet']
""".strip("\n").split("\n")

WHITE = [
    "a=x\n",
    "a=  ",
    "a=hello  world ",
    "a= 1 ",
    "a='x' ",
    "a=[a] ",
    "a=x\r",
    "a=\tx",
    "a='x\ny'",
    "a=[x,\ty]",
    "a\n=1",
    "a=[a\t:\tb]",
    "a=x\ty",
    "a=\x0bx",
    "a=${x\ny}",
]


@pytest.mark.parametrize("text", TRICKY + WHITE)
def test_known_words_are_read_as_hydra_reads_them(text: str, hydra: Oracle) -> None:
    agree(text, hydra)


def test_the_list_is_long_enough() -> None:
    assert len(set(TRICKY)) >= 150


def one_of(words: str) -> st.SearchStrategy[str]:
    return st.sampled_from(words.split("|"))


SCALARS = one_of(
    r"""a|b-c|1|0|-2|1_000|1.5|1e3|1e-6|true|Null|inf|'s'|'3'|'true'|"x\"y"|a b|${x.y}|a:b|/p/q.r|01|1.2.3"""
    r"|\,|a\ b|$H|é|x=y|~"
)
NAMES = one_of("int|str|float|bool|choice|range|interval|tag|sort|shuffle|glob|f")
PARAMETERS = one_of("||||||||value=|list=|sweep=|reverse=|start=|stop=|step=|end=|include=|exclude=")
KEYS = one_of("a|a.b|a.b.0|a/b|a@b|a/b@c.d|$x|a-b.c||0.a|1|a..b|a/|a.b/c|a@|a b|a[0]")
FUNCTION_NAMES = "bool, choice, float, glob, int, interval, range, shuffle, sort, str, tag"
COMMAS = st.sampled_from([",", ",", ", ", " , ", ",,"])


def _joined(items: list[str], comma: str) -> str:
    return comma.join(items)


def _containers(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.builds(_joined, st.lists(inner, max_size=3), COMMAS)
    pair = st.builds("{}:{}".format, st.sampled_from(["a", "b", "1", "true", "x y", "'q'"]), inner)
    pairs = st.builds(_joined, st.lists(pair, max_size=3), COMMAS)
    arguments = st.builds(_joined, st.lists(st.builds("{}{}".format, PARAMETERS, inner), max_size=3), COMMAS)
    return st.one_of(
        several.map("[{}]".format),
        pairs.map("{{{}}}".format),
        st.builds("{}({})".format, NAMES, arguments),
    )


ELEMENTS = st.recursive(SCALARS, _containers, max_leaves=6)
NOISE = st.text(alphabet="ab01_-+.eE,:[]{}()='\"\\ $\t~/#", max_size=9)
VALUES = st.one_of(ELEMENTS, st.lists(ELEMENTS, min_size=2, max_size=3).map(",".join), NOISE)
PREFIXES = st.sampled_from(["", "", "", "+", "++", "~"])
OVERRIDES = st.one_of(
    st.builds("{}{}={}".format, PREFIXES, st.just("a.b"), VALUES),
    st.builds("{}{}={}".format, PREFIXES, KEYS, SCALARS),
    st.builds("{}{}".format, PREFIXES, KEYS),
).filter(lambda text: text[:1] not in ("", "-"))
UNHURRIED = settings(
    max_examples=400,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@UNHURRIED
@given(text=OVERRIDES)
def test_made_up_words_are_read_as_hydra_reads_them(text: str, hydra: Oracle) -> None:
    agree(text, hydra)


@UNHURRIED
@given(text=OVERRIDES, cuts=st.lists(st.integers(0, 40), min_size=1, max_size=2))
def test_a_fault_of_a_word_with_holes_is_there_whatever_they_hold(text: str, cuts: list[int], hydra: Oracle) -> None:
    for cut in sorted(cuts, reverse=True):
        text = text[:cut] + "<X>" + text[cut:] if cut < len(text) else text + "<X>"
    found = parse_override(template(text))
    if found is not None and found.error is not None:
        assert [hydra(text.replace("<X>", content)) for content in ("", "xyz")] == [None, None]


@pytest.mark.parametrize("text", ["", "-m", "--config-name=x", "-cn"])
def test_options_and_empty_words_are_no_overrides(text: str) -> None:
    assert parse_override(word(text)) is None


@pytest.mark.parametrize(
    ("text", "like"),
    [
        ("a.b=1", True),
        ("+a/b@c=1", True),
        ("a.b[0]=1", True),
        ("~a.b", True),
        ("<KEY>=1", True),
        ("a=b=c", True),
        ("~/data", False),
        ("~/data=1", False),
        ("a", False),
        ("<WORD>", False),
        ("--a=1", False),
        ("a b=1", False),
        ("/a=1", False),
        ("", False),
    ],
)
def test_what_looks_like_an_override(text: str, like: bool) -> None:
    assert is_override_like(template(text)) is like


@pytest.mark.parametrize(
    ("text", "key", "package", "state", "sweep"),
    [
        ("data.n=<N>", "data.n", "", State.SYMBOLIC, False),
        ("data.n=x-<N>/y", "data.n", "", State.SYMBOLIC, False),
        ("data.f=[<A>,b]", "data.f", "", State.SYMBOLIC, False),
        ("data.f='<A> b'", "data.f", "", State.SYMBOLIC, False),
        ("data.f={a:<A>}", "data.f", "", State.SYMBOLIC, False),
        ("data.f={<K>:a}", "data.f", "", State.SYMBOLIC, False),
        ("data.f=int(<A>)", "data.f", "", State.SYMBOLIC, False),
        ("data.f=sort([<A>,1])", "data.f", "", State.SYMBOLIC, False),
        ("data.f=<F>(1)", "data.f", "", State.SYMBOLIC, False),
        ("data.f=<A>'b'", "data.f", "", State.SYMBOLIC, False),
        ("data.f=<A>[b]", "data.f", "", State.SYMBOLIC, False),
        ("data.f=<A>,b", "data.f", "", State.UNKNOWN, True),
        ("data.f=choice(<A>,b)", "data.f", "", State.UNKNOWN, True),
        ("data.f=range(0,<N>)", "data.f", "", State.UNKNOWN, True),
        ("<K>.n=1", "", "", State.KNOWN, False),
        ("data.<K>=1", "", "", State.KNOWN, False),
        ("a/b@<P>=c", "a/b", "", State.KNOWN, False),
        ("<K>@p=c", "", "p", State.KNOWN, False),
        ("<WORD>", "", "", State.UNKNOWN, False),
        ("data<REST>", "", "", State.UNKNOWN, False),
        ("~data.<K>", "", "", State.ABSENT, False),
        ("~data.n", "data.n", "", State.ABSENT, False),
        ("data.n=shuffle([1,2])", "data.n", "", State.UNKNOWN, False),
        ("data.n=1,2", "data.n", "", State.UNKNOWN, True),
    ],
)
def test_what_is_known_of_a_word(text: str, key: str, package: str, state: State, sweep: bool) -> None:
    found = parsed(template(text))
    assert (found.error, found.key, found.package) == (None, key, package)
    assert (found.value.state, found.value.data is None, found.sweep) == (state, state is not State.KNOWN, sweep)


def test_a_word_that_may_become_several_is_unknown_with_its_reason() -> None:
    value = parsed(template("data.n=<N>", elastic=True)).value
    assert (value.state, value.reason) == (
        State.UNKNOWN,
        "environment variable; without quotes it may become several words",
    )


@pytest.mark.parametrize(
    ("text", "message", "offset"),
    [
        ("dangling", 'no "=" in the word: Hydra expects key=value', 8),
        ("a b=1", "a Hydra key cannot hold a space", 1),
        ("a[0]=1", 'a Hydra key cannot hold "["', 1),
        ("a..b=1", 'a Hydra key breaks at "."', 1),
        ("~/x=1", 'a Hydra key breaks at "/"', 1),
        ("a=b=c", 'a "=" in a value must be quoted for Hydra', 3),
        ("a=<N>=c", 'a "=" in a value must be quoted for Hydra', 3),
        ("a=~/x", '"~" in a value must be quoted for Hydra', 2),
        ("a=x#y", '"#" in a value must be quoted for Hydra', 3),
        (
            "a=x(y)",
            f'Hydra has no function "x" (it has {FUNCTION_NAMES})',
            2,
        ),
        ("a=1(y)", 'a "(" in a value must be quoted for Hydra', 3),
        ("a='x", "the quote ' is never closed", 2),
        ("a=[x,y", '"[" is never closed', 2),
        ("a=[<N>", '"[" is never closed', 2),
        ("a=x]", '"]" closes nothing', 3),
        ("a=]", '"]" closes nothing', 2),
        ("a=[x}", '"}" does not match "["', 4),
        ("a=[x,]", 'an item is missing before "]"', 5),
        ("a=x,", "an item is missing before the end", 4),
        ("a={'x':1}", "keys in {…} must stand without quotes for Hydra", 3),
        ("a={x}", 'Hydra expects "key: value" in {…}', 3),
        ("a=[x]y", 'Hydra allows no text right after "]"', 5),
        ("a=[x] ", 'a space stands after "]"', 6),
        ("a='x'y", "Hydra allows no text right after the quoted text 'x'", 5),
        ("a=x'y'", "quotes must enclose the whole value for Hydra", 3),
        ("a=${b.${c}}", '"}" closes nothing', 10),
        ("a=int(x)", "int(): invalid literal for int() with base 10: 'x'", 2),
        ("a=range()", 'range() needs "start"', 2),
        ("a=x\r", "the value holds a carriage return (Windows line ends?)", 3),
    ],
)
def test_faults_say_what_and_where(text: str, message: str, offset: int) -> None:
    found = parsed(template(text))
    assert found.error is not None
    assert (found.error.message, found.error.offset) == (message, offset)
    assert found.error.span is not None
    assert found.value.state is State.UNKNOWN


@pytest.mark.parametrize("text", ["a=" + "[" * 5000, "a=" + "[" * 5000 + "]" * 5000, "a=" + "9" * 5000])
def test_monstrous_values_are_refused(text: str) -> None:
    found = parsed(word(text))
    assert found.error is not None


def test_parts_have_their_places() -> None:
    found = parsed(word("++data.train_files=['a', b]"))
    assert (found.form, found.key, found.value.data) == (Form.FORCE, "data.train_files", ["a", "b"])
    assert found.key_span is not None
    assert found.value.span is not None
    assert (found.key_span.text, found.value.span.text) == ("data.train_files", "['a', b]")
    assert (found.value_text.known, found.value.text) == ("['a', b]", found.value_text)
    assert found.value.hops == (Hop(found.word.span),)
    assert found.value.key == "data.train_files"


def test_a_value_from_a_variable_is_placed_in_the_word_and_keeps_its_way() -> None:
    source = Source("run.sh", 'N=64\npython -m verl data.n="$N"\n')
    start = source.text.index("data.n")
    span = source.span(start, start + len('data.n="$N"'))
    assignment = source.span(0, 4)
    content = Literal("64", source.span(2, 4), (Hop(assignment),), quoted=True)
    found = parsed(Text((Literal("data.n=", source.span(start, start + 7)), content), span))
    assert found.key_span == source.span(start, start + 6)
    assert found.value.span == source.span(start + 7, span.end)
    assert found.value.data == 64
    assert found.value.hops == (Hop(source.span(2, 4)), Hop(assignment), Hop(span))


def test_a_fault_in_the_value_of_a_variable_is_placed_at_the_word() -> None:
    source = Source("run.sh", "N=a=b\npython -m verl data.n=$N\n")
    start = source.text.index("data.n")
    span = source.span(start, start + len("data.n=$N"))
    pieces = (Literal("data.n=", source.span(start, start + 7)), Literal("a=b", source.span(2, 5)))
    error = parsed(Text(pieces, span)).error
    assert error is not None
    assert (error.offset, error.span) == (8, span)


def test_an_array_element_is_placed_where_it_is_written() -> None:
    source = Source("run.sh", 'ARGS=(data.n=64)\npython -m verl "${ARGS[@]}"\n')
    use = source.span(source.text.index('"$'), len(source.text) - 1)
    found = parsed(Text((Literal("data.n=64", source.span(6, 15)),), use))
    assert found.key_span == source.span(6, 12)
    assert found.value.span == source.span(13, 15)
    assert found.value.hops == (Hop(use),)


def test_an_empty_value_is_an_empty_string() -> None:
    value = parsed(word("a.b=")).value
    assert (value.state, value.data, value.span and (value.span.start, value.span.end)) == (State.KNOWN, "", (4, 4))


def test_not_a_number_is_a_float() -> None:
    data = parsed(word("a=nan")).value.data
    assert isinstance(data, float)
    assert math.isnan(data)
