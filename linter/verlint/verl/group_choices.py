"""Choices of config groups: the lines of a defaults list, and what a call says of them."""

from __future__ import annotations

from verlint.record import dataclass, field

Choice = str | list[str] | None

SELF = "_self_"
GLOBAL = "_global_"


@dataclass(slots=True, eq=False)
class Default:
    """One line of a defaults list: `group@package: choice` or, with `group` None, the path of a config."""

    group: str | None
    choice: Choice
    package: str | None = None
    optional: bool = False
    override: bool = False
    header: str | None = None
    parent_group: str = ""
    parent_package: str = ""
    deleted: bool = False

    @property
    def is_self(self) -> bool:
        """Whether it stands for the file that holds the list."""
        return self.choice == SELF

    @property
    def text(self) -> str:
        """The chosen option, or the path."""
        return self.choice if isinstance(self.choice, str) else ""

    def below(self, group: str, package: str) -> None:
        """Say where it stands: the group and the package of the config that holds it."""
        self.parent_group, self.parent_package = group, package
        if self.package is not None and "_group_" in self.package:
            self.package = f"{GLOBAL}.{self.package.replace('_group_', self.group_path.replace('/', '.'))}"

    @property
    def group_path(self) -> str:
        """The folder of the chosen file below the config folder."""
        name = self.group if self.group is not None else self.text.rpartition("/")[0]
        if self.group is None and self.text.startswith("/"):
            return self.text[1:].rpartition("/")[0]
        if name.startswith("/"):
            return name[1:]
        return "/".join(each for each in (self.parent_group, name) if each)

    @property
    def config_path(self) -> str:
        """The chosen file below the config folder, without its suffix."""
        if self.group is not None:
            return f"{self.group_path}/{self.text}"
        if self.text.startswith("/"):
            return self.text[1:]
        return f"{self.parent_group}/{self.text}" if self.parent_group else self.text

    def final_package(self, *, with_header: bool = True) -> str:
        """Where the content goes, as a dotted key."""
        package = self.package
        if package is None and with_header:
            package = self.header
        if package is None:
            relative = self.group if self.group is not None else self.text.lstrip("/").rpartition("/")[0]
            package = relative.removeprefix("/").replace("/", ".")
        whole = ".".join(each for each in (self.parent_package, package) if each)
        at = whole.rfind(GLOBAL)
        return whole if at < 0 else whole[at + len(GLOBAL) + 1 :]

    @property
    def override_key(self) -> str:
        """What an override calls it: `group`, or `group@package` when that is not the group's own."""
        final = self.final_package(with_header=False)
        if self.group_path.replace("/", ".") == final:
            return self.group_path
        return f"{self.group_path}@{final or GLOBAL}"


@dataclass(eq=False)
class Choices:
    """Group choices of a call: replaced ones, added ones and deleted ones (None: whatever is chosen)."""

    replaced: dict[str, Choice] = field(default_factory=dict)
    added: list[Default] = field(default_factory=list)
    deleted: dict[str, str | None] = field(default_factory=dict)
