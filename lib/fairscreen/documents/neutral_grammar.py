"""He and she to they, with what follows from it: verbs, objects, possessives, capitals.

"She manages the team and closes the month herself" becomes "They manage the team and close the
month themselves". Which word is a verb is told by lists (conf/leakage.yml, `verbs`, `nouns_too`): a
word that may be a noun as well counts as a verb only before a word that follows no plural noun.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from fairscreen.documents.leakage_context import sentence_at, sentences
from fairscreen.documents.leakage_cues import Cues, Hit

_BE = {"is": "are", "was": "were", "has": "have", "does": "do", "isn't": "aren't",
       "wasn't": "weren't", "hasn't": "haven't", "doesn't": "don't", "isn’t": "aren’t",
       "wasn’t": "weren’t", "hasn’t": "haven’t", "doesn’t": "don’t"}  # fmt: skip
_MOST_WORDS = 80  # of a sentence; what is joined to a verb stands nearer
_WORD = re.compile(r"[\w'’-]+")
_DETERMINER = frozenset({
    "the", "a", "an", "his", "her", "their", "its", "our", "my", "all", "any", "each", "every",
    "new", "this", "that", "these", "those", "both", "some", "many", "more", "most", "one",
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "over", "up", "to",
    "on", "in", "for", "with", "from", "at", "daily", "weekly", "monthly", "well",
})  # fmt: skip
_ADVERB = re.compile(r"\w+ly|also|often|always|never|now|then|still|even|just|ever", re.IGNORECASE)
# What follows "her" and "his" where no noun of theirs does: "trust her with", "a choice of his".
_ENDS_OBJECT = frozenset({
    "to", "for", "with", "from", "at", "in", "on", "by", "of", "as", "about", "into", "over",
    "under", "after", "before", "during", "when", "while", "if", "that", "because", "since",
    "until", "and", "or", "but", "than", "then", "so", "how", "what", "where", "who", "which",
    "the", "a", "an", "this", "these", "those", "all", "any", "each", "every", "some", "back",
    "down", "up", "off", "out", "again", "well", "directly", "is", "was", "has", "had", "will",
    "would", "can", "could", "may", "might", "shall", "should", "must", "did", "does", "do",
    "always", "never", "often", "also", "too", "very", "not",
})  # fmt: skip
_PAST = re.compile(
    r"(?:\s+|\s+(?:\w+ly|also|already|just|never|always)\s+)(?:\w+ed|been|had|grown|led|run|"
    r"built|taught|won|written|held|kept|made|taken|given|gone|done|seen|begun|become)\b"
)


def replacements(text: str, hits: tuple[Hit, ...], cues: Cues) -> list[tuple[int, int, str]]:
    """What to put in the place of which span, for pronouns of the applicant (kind `pronoun`)."""
    found: list[tuple[int, int, str]] = []
    all_sentences = sentences(text)
    for hit in hits:
        word = hit.text.lower()
        behind = text[hit.end :]
        if "/" in word or ":" in word:
            continue  # a declaration: taken away as a field is
        if word in ("he", "she"):
            short = re.match(r"['’](s|d|ll)\b", behind)
            end = hit.end + short.end() if short else hit.end
            if short and short.group(1) == "s":
                new = "they've" if _PAST.match(text[end:]) else "they're"
            else:
                new = "they" + (short.group() if short else "")
            found.append((hit.start, end, _cased(new, hit.text, text, hit.start)))
            sentence = all_sentences[sentence_at(all_sentences, hit.start)]
            found += _verbs(text, hit.start, end, sentence.end, cues, done=bool(short))
            continue
        after = _WORD.match(behind.lstrip())
        follows = after.group().lower() if after and not behind[:1].strip() else ""
        object_like = not follows or follows in _ENDS_OBJECT
        new = {
            "him": "them",
            "himself": "themselves",
            "herself": "themselves",
            "hers": "theirs",
            "her": "them" if object_like else "their",
            "his": "theirs" if object_like else "their",
        }[word]
        found.append((hit.start, hit.end, _cased(new, hit.text, text, hit.start)))
    return found


def _cased(new: str, old: str, text: str, at: int) -> str:
    if old.isupper() and len(old) > 1:
        return new.upper()
    return new[0].upper() + new[1:] if old[0].isupper() else new


# Another subject: what comes after it agrees with that one.
_SUBJECTS = frozenset({
    "who", "which", "that", "where", "when", "if", "because", "while", "it", "he", "she", "they",
    "we", "i",
})  # fmt: skip
_JOINS = frozenset({"and", "or", "then", "but"})
_INVERTED = re.compile(r"\b(is|was|has|does)\s+\Z", re.IGNORECASE)


def _verbs(
    text: str, pronoun: int, at: int, end: int, cues: Cues, *, done: bool
) -> list[tuple[int, int, str]]:
    """Verbs of a subject pronoun up to the end of its sentence: the first, and those joined.

    done: the first is part of the pronoun ("she's"), or a past or a modal needs no change.
    """
    near = max(0, pronoun - 10)
    if inverted := _INVERTED.search(text[near:pronoun]):
        verb, (start, stop) = inverted.group(1), inverted.span(1)
        return [(near + start, near + stop, _cased(_BE[verb.lower()], verb, text, 0))]
    found: list[tuple[int, int, str]] = []
    words = list(itertools.islice(_WORD.finditer(text, at, end), _MOST_WORDS))
    first = next((i for i, w in enumerate(words) if not _ADVERB.fullmatch(w.group())), len(words))
    for i in range(first, len(words)):
        word = words[i].group()
        if i == first:
            plain = None if done else _plain(word, cues, sure=True)
        elif word.lower() in _SUBJECTS:
            break
        else:
            plain = _plain(word, cues, sure=_before_object(text, words, i))
            plain = plain if _joined(text, words, i) else None
        if plain is not None:
            found.append((*words[i].span(), plain))
    return found


def _joined(text: str, words: Sequence[re.Match[str]], i: int) -> bool:
    """Whether a conjunction or a comma stands before word i, adverbs aside."""
    between = text[words[i - 1].end() : words[i].start()]
    before = words[i - 1].group().lower()
    if before in _JOINS or before == "also" or "," in between or ";" in between:
        return True
    return bool(_ADVERB.fullmatch(before)) and i >= 2 and words[i - 2].group().lower() in _JOINS


def _before_object(text: str, words: Sequence[re.Match[str]], i: int) -> bool:
    """Whether a word follows word i directly that follows no plural noun: "the", a number ..."""
    if i + 1 == len(words) or text[words[i].end() : words[i + 1].start()].strip():
        return False
    behind = words[i + 1].group().lower()
    return behind in _DETERMINER or behind.isdigit()


def _plain(word: str, cues: Cues, *, sure: bool) -> str | None:
    """The plain form of a verb in the third person; None where the word is none.

    sure: the place is a verb's; else words that are nouns as well are taken for nouns.
    """
    low = word.lower()
    if low in _BE:
        new = _BE[low]
    else:
        known = set(cues.verbs) | (set(cues.nouns_too) if sure else set())
        new = next((c for c in _candidates(low) if c in known), "")
        if not new and sure and re.fullmatch(r"[a-z]+[^aiousw']s", low):
            new = _candidates(low)[-1]
    if not new:
        return None
    if word.isupper() and len(word) > 1:
        return new.upper()
    return new[0].upper() + new[1:] if word[0].isupper() else new


def _candidates(low: str) -> list[str]:
    """Plain forms that a third person may have: carries carry, watches watch, manages manage."""
    found = []
    if low.endswith("ies") and len(low) > 4:
        found.append(low[:-3] + "y")
    if re.search(r"(?:ss|sh|ch|x|z|o)es$", low):
        found.append(low[:-2])
    if low.endswith("s") and not low.endswith("ss"):
        found.append(low[:-1])
    return found or [low]
