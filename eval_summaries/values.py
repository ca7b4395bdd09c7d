"""Values of --set and --config, read as the option's own check understands them.

YAML would make `no` False, `2020-01-01` a date and `1e-3` a text before any option is asked. Here a value that stands
without quotation marks is offered to the option's check as each thing that it may mean, and the first that is accepted
counts: `sss.lang=no` is Norwegian, `sss.use_stemmer=no` is False.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli
import yaml

from .rows import read_text
from .table import UnusableError

_NULL = ("", "~", "null", "Null", "NULL", "None")
_BOOLEAN = {"true": True, "false": False, "yes": True, "no": False, "on": True, "off": False}
_NUMBER = re.compile(r"[-+]?(\d[\d_]*)?\.?\d+([eE][-+]?\d+)?|[-+]?\d+\.|[-+]?\.?(inf|nan)", re.I)


class Meant:
    """What a value may mean, in the order in which it is offered; ``shown`` is how an error writes it."""

    def __init__(self, candidates: list[Any], shown: str):
        self.candidates, self.shown = candidates, shown

    def accepted_by(self, check: Any, name: str) -> Any:
        """The first candidate that ``check(name, value)`` accepts; the error of the last one where none is."""
        for number, value in enumerate(self.candidates):
            try:
                return check(name, value)
            except (TypeError, ValueError, OverflowError):
                if number == len(self.candidates) - 1:
                    raise
        raise AssertionError("there is always a candidate")


def _typed(text: str) -> Any:
    """A number where the text is one, else the text."""
    if not _NUMBER.fullmatch(text):
        return text
    try:
        return int(text)
    except ValueError:
        try:
            return float(re.sub(r"^([-+]?)\.(?=[in])", r"\1", text, flags=re.I))
        except ValueError:
            return text


def _of_text(text: str) -> list[Any]:
    found: list[Any] = [None] if text in _NULL else []
    found.append(text)
    if text.lower() in _BOOLEAN:
        found.append(_BOOLEAN[text.lower()])
    if (number := _typed(text)) != text or number != number:
        found.append(number)
    return found


def _build(node: yaml.Node, typed: bool) -> Any:
    """The value of a node: every scalar inside a list or mapping a text, or what YAML's own users mean by it."""
    if isinstance(node, yaml.SequenceNode):
        return [_build(entry, typed) for entry in node.value]
    if isinstance(node, yaml.MappingNode):
        keys = [_build(key, False) for key, _ in node.value]
        if len({str(key) for key in keys}) < len(keys):
            raise UnusableError(f"a key stands twice in a mapping ({', '.join(map(str, keys))})")
        return {str(key): _build(value, typed) for key, (_, value) in zip(keys, node.value, strict=True)}
    if node.style in ("'", '"') or not typed:
        return None if node.value in _NULL and not node.style else node.value
    return _of_text(node.value)[-1]


def of_node(node: yaml.Node) -> Meant:
    """What a YAML value may mean."""
    if isinstance(node, yaml.ScalarNode):
        return Meant([node.value] if node.style in ("'", '"', "|", ">") else _of_text(node.value), node.value)
    candidates = [_build(node, typed) for typed in (False, True)]
    return Meant(candidates, repr(candidates[1]))


def of_setting(text: str) -> Meant:
    """What the value of ``--set METRIC.OPTION=VALUE`` may mean; what is no YAML is a text."""
    try:
        node = yaml.compose(text, Loader=yaml.BaseLoader)
        return of_node(node) if node is not None else Meant(_of_text(text), text)
    except (yaml.YAMLError, ValueError, RecursionError, TypeError):
        return Meant(_of_text(text), text)


def _of_toml(value: Any) -> Meant:
    """TOML has types of its own; a date may also be meant as a text."""
    return Meant([value] if isinstance(value, (str, bool, int, float, list, dict)) else [str(value)], repr(value))


def read_config(path: Path) -> dict[str, dict[str, Meant]]:
    """A YAML or TOML file with a section of options for each metric.

    Raises:
        UnusableError: where it cannot be read, or is not made of sections.
    """
    try:
        text = read_text(path)
        if path.suffix.lower() == ".toml":
            return _sections(path, tomli.loads(text), _of_toml)
        node = yaml.compose(text, Loader=yaml.BaseLoader)
        if node is None or (isinstance(node, yaml.ScalarNode) and node.value in _NULL):
            return {}
        return _sections(path, node, of_node)
    except (OSError, ValueError, RecursionError, TypeError, yaml.YAMLError, tomli.TOMLDecodeError) as error:
        raise UnusableError(f"--config {path}: {error}") from None


def _items(content: Any) -> list[tuple[str, Any]] | None:
    """Keys and values of a mapping, or of a YAML mapping node; None for anything else."""
    if isinstance(content, Mapping):
        return list(content.items())
    if isinstance(content, yaml.ScalarNode) and content.value in _NULL:
        return []
    if isinstance(content, yaml.MappingNode) and all(isinstance(key, yaml.ScalarNode) for key, _ in content.value):
        return [(key.value, value) for key, value in content.value]
    return None


def _sections(path: Path, content: Any, meant: Any) -> dict[str, dict[str, Meant]]:
    sections: dict[str, dict[str, Meant]] = {}
    for name, section in _items(content) or [("", None)]:
        entries = _items(section)
        if entries is None:
            raise UnusableError(
                f"--config {path}: write a section for each metric, such as 'mss: {{doc_chunk_size: 3}}'"
            )
        if name in sections or len(dict(entries)) < len(entries):
            raise UnusableError(f"--config {path}: {name} or one of its options stands there twice")
        sections[name] = {option: meant(value) for option, value in entries}
    return sections
