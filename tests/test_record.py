"""The data classes of `verlint.record` behave as those of the standard library."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from verlint import record
from verlint.record import _dataclass, _field, _replace, names

both = pytest.mark.parametrize(
    ("dataclass", "field"),
    [
        pytest.param(dataclasses.dataclass, dataclasses.field, id="standard"),
        pytest.param(_dataclass, _field, id="record"),
    ],
)


@both
@pytest.mark.parametrize("slots", [False, True])
@pytest.mark.parametrize("frozen", [False, True])
def test_objects_are_made_compared_and_shown(dataclass: Any, field: Any, slots: bool, frozen: bool) -> None:
    @dataclass(slots=slots, frozen=frozen)
    class Place:
        """A place."""

        KINDS: ClassVar[tuple[str, ...]] = ("a", "b")
        path: str
        line: int = 1
        tags: list[str] = field(default_factory=list)
        note: str = field(default="-")

        @property
        def shown(self) -> str:
            return f"{self.path}:{self.line}"

    one, two = Place("a.sh"), Place("a.sh", line=2, tags=["x"])
    assert (one.path, one.line, one.tags, one.note, one.shown) == ("a.sh", 1, [], "-", "a.sh:1")
    assert one.tags is not Place("a.sh").tags
    assert one == Place("a.sh", 1, [], "-")
    assert one != two
    assert one != ("a.sh", 1, [], "-")
    assert repr(two).endswith("Place(path='a.sh', line=2, tags=['x'], note='-')")
    assert Place.KINDS == ("a", "b")
    assert Place.__doc__ == "A place."
    assert Place.__match_args__ == ("path", "line", "tags", "note")
    assert hasattr(one, "__dict__") is not slots
    match two:
        case Place(path, 2):
            assert path == "a.sh"
        case _:
            pytest.fail("it is matched by its fields")
    with pytest.raises(TypeError):
        Place()
    with pytest.raises(TypeError):
        Place("a.sh", other=1)


@both
def test_hashes(dataclass: Any, field: Any) -> None:
    @dataclass(frozen=True, slots=True)
    class Frozen:
        a: int
        b: str = ""

    @dataclass(slots=True)
    class Changing:
        a: int

    @dataclass(eq=False)
    class Single:
        a: int

    assert {Frozen(1), Frozen(1), Frozen(1, "x")} == {Frozen(1, "x"), Frozen(1)}
    with pytest.raises(TypeError):
        hash(Changing(1))
    assert Single(1) != Single(1)
    assert len({Single(1), Single(1)}) == 2


@both
def test_fields_of_a_base_come_first(dataclass: Any, field: Any) -> None:
    @dataclass(slots=True)
    class Node:
        start: int
        end: int

    @dataclass(slots=True)
    class Word(Node):
        parts: list[Node]
        quoted: bool = False

    word = Word(1, 2, [])
    assert (word.start, word.end, word.parts, word.quoted) == (1, 2, [], False)
    assert word != Node(1, 2)
    assert not hasattr(word, "__dict__")


@both
def test_methods_that_are_written_stay(dataclass: Any, field: Any) -> None:
    @dataclass(frozen=True)
    class Name:
        text: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Name) and self.text.lower() == other.text.lower()

        def __hash__(self) -> int:
            return hash(self.text.lower())

        def __repr__(self) -> str:
            return self.text

    assert Name("A") == Name("a")
    assert len({Name("A"), Name("a")}) == 1
    assert repr(Name("A")) == "A"


@both
def test_what_is_done_after_the_fields_are_set(dataclass: Any, field: Any) -> None:
    @dataclass
    class Sum:
        a: int
        b: int = 2
        total: int = 0

        def __post_init__(self) -> None:
            self.total = self.a + self.b

    assert [Sum(1).total, Sum(2, 5).total] == [3, 7]


@both
def test_a_class_without_fields(dataclass: Any, field: Any) -> None:
    @dataclass(frozen=True, slots=True)
    class Nothing:
        pass

    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(Nothing())
    assert repr(Nothing()).endswith("Nothing()")


@pytest.mark.parametrize(
    ("dataclass", "replace"),
    [(dataclasses.dataclass, dataclasses.replace), (_dataclass, _replace)],
    ids=["standard", "record"],
)
def test_a_copy_with_other_values(dataclass: Any, replace: Callable[..., Any]) -> None:
    @dataclass(frozen=True, slots=True)
    class Pair:
        a: int
        b: int = 0

    pair = Pair(1, 2)
    assert replace(pair, b=3) == Pair(1, 3)
    assert pair == Pair(1, 2)
    with pytest.raises(TypeError):
        replace(pair, c=1)


@_dataclass(frozen=True, slots=True)
class Copied:
    """A class that can be found by its name."""

    a: int
    b: tuple[int, ...] = ()


def test_names_and_pickles() -> None:
    assert names(Copied) == names(Copied(1)) == ("a", "b")
    assert pickle.loads(pickle.dumps(Copied(1, (2,)))) == Copied(1, (2,))


def test_usual_classes_need_no_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    def compiled(*_: object, **__: object) -> None:
        pytest.fail("an `__init__` was compiled while the program runs")

    monkeypatch.setattr(record, "_compiled", compiled)

    @_dataclass(slots=True)
    class Made:
        a: int
        b: list[int] = _field(default_factory=list)
        c: dict[str, int] = _field(default_factory=dict)
        d: str = "-"
        e: int = 0
        f: int = 0
        g: int = 0
        h: int = 0
        i: int = 0
        j: int = 0

        def __post_init__(self) -> None:
            self.j = self.a + 1

    one = Made(1, d="x")  # type: ignore[call-arg]
    assert (one.a, one.b, one.c, one.d, one.j) == (1, [], {}, "x", 2)
    assert Made(1, [2]).b == [2]  # type: ignore[call-arg]


def test_classes_of_many_fields_take_what_others_take() -> None:
    names_of_fields = [f"field_{number}" for number in range(30)]
    body: dict[str, object] = {"__annotations__": dict.fromkeys(names_of_fields, "int")}
    body |= dict.fromkeys(names_of_fields[1:-1], 0) | {"field_29": _field(default_factory=list)}
    many = _dataclass(slots=True)(type("Many", (), body))
    for number in range(20):  # the first ones are filled field by field, then an `__init__` is compiled
        one = many(number, 2, field_28=3)
        assert (one.field_0, one.field_1, one.field_2, one.field_28, one.field_29) == (number, 2, 0, 3, [])
        assert one.field_29 is not many(1).field_29
        assert one == many(number, 2, field_28=3)
        for args, kwargs in (((), {}), ((1,), {"field_0": 1}), ((1,), {"other": 1}), (range(31), {})):
            with pytest.raises(TypeError):
                many(*args, **kwargs)


@pytest.mark.parametrize("count", range(1, 20))
@pytest.mark.parametrize("factory", [False, True])
def test_each_number_of_fields(count: int, *, factory: bool) -> None:
    names_of_fields = [f"field_{number}" for number in range(count)]
    body: dict[str, object] = {"__annotations__": dict.fromkeys(names_of_fields, "object")}
    if factory:
        body[names_of_fields[-1]] = _field(default_factory=list)
    made = _dataclass(type("Made", (), body))
    one = made(*range(count - factory))
    assert [getattr(one, name) for name in names_of_fields] == [*range(count - factory), *([[]] if factory else [])]
