"""He and she to they, with what follows from it: verbs, objects, possessives, capitals.

"She manages the team and closes the month herself" becomes "They manage the team and close the
month themselves". Which word is a verb is told by lists (conf/leakage.yml, `verbs`, `nouns_too`): a
word that may be a noun as well counts as a verb only before a word that follows no plural noun.
"""

from __future__ import annotations

import re

from fairscreen.documents.leakage_context import sentence_at, sentences
from fairscreen.documents.leakage_cues import Cues, Hit

_BE = {"is": "are", "was": "were", "has": "have", "does": "do", "isn't": "aren't",
       "wasn't": "weren't", "hasn't": "haven't", "doesn't": "don't", "isn’t": "aren’t",
       "wasn’t": "weren’t", "hasn’t": "haven’t", "doesn’t": "don’t"}  # fmt: skip
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


def _verbs(
    text: str, pronoun: int, at: int, end: int, cues: Cues, *, done: bool
) -> list[tuple[int, int, str]]:
    """Verbs of a subject pronoun up to the end of its sentence: the first, and those joined."""
    found: list[tuple[int, int, str]] = []
    inverted = re.search(r"\b(is|was|has|does)\s+\Z", text[:pronoun], re.IGNORECASE)
    if inverted:
        found.append(
            (*inverted.span(1), _cased(_BE[inverted.group(1).lower()], inverted.group(1), text, 0))
        )
        return found
    words = list(_WORD.finditer(text, at, end))
    first = next((i for i, w in enumerate(words) if not _ADVERB.fullmatch(w.group())), None)
    if first is None:
        return found
    if not done:
        plain = _plain(words[first].group(), cues, sure=True)
        if plain is None:
            # A past or a modal: what is joined to it is in the past, too, or needs no change.
            pass
        else:
            found.append((*words[first].span(), plain))
    for i in range(first + 1, len(words)):
        between = text[words[i - 1].end() : words[i].start()]
        joined = words[i - 1].group().lower() in ("and", "or", "then", "but", "also") or (
            "," in between or ";" in between
        )
        if not joined and _ADVERB.fullmatch(words[i - 1].group()) and i >= 2:
            joined = words[i - 2].group().lower() in ("and", "or", "then", "but")
        if not joined:
            continue
        if words[i].group().lower() in ("who", "which", "that"):
            break
        nxt = words[i + 1].group().lower() if i + 1 < len(words) else ""
        gap = text[words[i].end() : words[i + 1].start()] if i + 1 < len(words) else "."
        sure = not gap.strip() and (nxt in _DETERMINER or nxt.isdigit())
        plain = _plain(words[i].group(), cues, sure=sure)
        if plain is not None and _still_subject(text, at, words[i].start()):
            found.append((*words[i].span(), plain))
    return found


_OTHER_SUBJECT = re.compile(
    r"\b(?:who|which|that|where|when|if|because|while|it|he|she|they|we|I)\b", re.IGNORECASE
)


def _still_subject(text: str, start: int, at: int) -> bool:
    """Whether no other subject came between the pronoun and a joined verb."""
    return not _OTHER_SUBJECT.search(text[start:at])


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
