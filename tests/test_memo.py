"""What is kept beside objects is let go with them."""

from __future__ import annotations

import gc

from verlint.memo import WeakKeyDictionary


class Thing:
    pass


def test_values_live_as_long_as_their_keys() -> None:
    kept: WeakKeyDictionary[Thing, str] = WeakKeyDictionary()
    one, other = Thing(), Thing()
    kept[one] = "one"
    assert (kept.get(one), kept.get(other), kept.get(other, "none"), one in kept, other in kept) == (
        "one",
        None,
        "none",
        True,
        False,
    )
    assert kept.setdefault(one, "again") == "one"
    assert kept.setdefault(other, "other") == kept[other] == "other"
    del one
    gc.collect()
    third = Thing()
    assert third not in kept
    assert kept[other] == "other"
