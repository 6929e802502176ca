"""YAML as people write it by hand: what a parser would take without a word is told.

A key that stands twice, a key without a value (is it none, or was it forgotten?) and half a
character are errors here.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import yaml


class Refused(yaml.MarkedYAMLError):
    """YAML that is valid and not taken; `problem` says why."""


class _Loader(yaml.SafeLoader):
    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable) and key in seen:
                raise Refused(problem=f"key {key!r} stands twice", problem_mark=key_node.start_mark)
            if isinstance(key, Hashable):
                seen.add(key)
        return super().construct_mapping(node, deep)

    def construct_yaml_null(self, node: Any) -> None:
        if node.value == "":
            problem = "a key has no value (write null for none)"
            raise Refused(problem=problem, problem_mark=node.start_mark)

    def construct_yaml_str(self, node: Any) -> Any:
        if not is_whole(node.value):
            problem = "holds half a character (a lone surrogate)"
            raise Refused(problem=problem, problem_mark=node.start_mark)
        return super().construct_yaml_str(node)


_Loader.add_constructor("tag:yaml.org,2002:null", _Loader.construct_yaml_null)
_Loader.add_constructor("tag:yaml.org,2002:str", _Loader.construct_yaml_str)


def is_whole(text: str) -> bool:
    """Whether a text can be written as UTF-8: YAML and JSON can name half a character."""
    return not any("\ud800" <= c <= "\udfff" for c in text)


def parse(text: str) -> Any:
    """YAML as Python values; YAMLError for anything that is none (impossible dates included)."""
    try:
        return yaml.load(text, _Loader)
    except (ValueError, RecursionError) as error:
        raise yaml.YAMLError(str(error)) from None


def problem(error: Exception) -> str:
    """What is wrong with the text, for a message that names the file."""
    return str(error.problem) if isinstance(error, Refused) else "is not valid YAML"
