"""Semantic chunks and information levels: what is shown, how it is drawn, what is counted."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from fairscreen.documents import chunking, information
from fairscreen.errors import InputError
from fairscreen.settings.ranking import Information
from model_server import serving

TEXT = "Bakes bread. Bakes cakes! Drives trucks?\nLoads trucks. • Speaks French"
PARTS = ["Bakes bread.", "Bakes cakes!", "Drives trucks?", "Loads trucks.", "• Speaks French"]


def by_topic(texts):
    """1 between texts whose first words are alike, 0 else."""
    firsts = [t.split()[0] for t in texts]
    return np.array([float(a == b) for a, b in itertools.pairwise(firsts)])


def test_sentences_lines_and_bullets() -> None:
    assert chunking.sentences(TEXT) == PARTS
    assert chunking.sentences(" \n") == []
    assert chunking.sentences("No stop, 3.5 years at Acme Inc, etc") == [
        "No stop, 3.5 years at Acme Inc, etc"
    ]


def test_neighbours_are_embedded_with_a_sentence() -> None:
    assert chunking.combined(["a", "b", "c", "d"], 1) == ["a b", "a b c", "b c d", "c d"]
    assert chunking.combined(["a", "b"], 0) == ["a", "b"]


def test_breaks_are_distances_above_the_percentile() -> None:
    # Distances 0.1, 0.9, 0.2, 0.8: percentile 30 is 0.19 (numpy's linear rule).
    similar = np.array([0.9, 0.1, 0.8, 0.2])
    assert np.percentile(1 - similar, 30) == pytest.approx(0.19)
    assert chunking.breaks(similar, 30).tolist() == [1, 2, 3]
    assert chunking.breaks(similar, 60).tolist() == [1, 3]
    assert chunking.breaks(np.array([]), 30).tolist() == []


def test_chunks_join_what_is_alike() -> None:
    found = chunking.chunks(TEXT, by_topic, percentile=30, buffer=0)
    assert found == ("Bakes bread. Bakes cakes!", *PARTS[2:])
    assert chunking.chunks("One only", by_topic, percentile=30, buffer=1) == ("One only",)
    assert chunking.chunks("", by_topic, percentile=30, buffer=1) == ()


@given(st.text(alphabet="ab .\n•!", max_size=80), st.integers(0, 3), st.integers(1, 99))
def test_chunks_hold_every_word_in_order(text: str, buffer: int, percentile: int) -> None:
    def lengths(texts):
        return np.array([1 / (1 + len(t)) for t in texts[1:]])

    found = chunking.chunks(text, lengths, percentile=percentile, buffer=buffer)
    assert " ".join(found).split() == text.split()


@given(st.integers(1, 60), st.sampled_from([10, 40, 60, 99]), st.text(max_size=5))
def test_a_level_is_its_share_of_the_chunks(n: int, level: int, key: str) -> None:
    found = information.drawn(key, n, level, rearranged=True, seed=3)
    exact = level * n / 100
    assert abs(len(found) - max(1, exact)) <= 0.5
    assert len(set(found)) == len(found)
    assert set(found) <= set(range(n))
    plain = information.drawn(key, n, level, rearranged=False, seed=3)
    assert plain == sorted(found)  # the same chunks, in their own order
    assert found == information.drawn(key, n, level, rearranged=True, seed=3)


def test_every_chunk_and_every_order_is_as_likely() -> None:
    keys = [f"r{i}" for i in range(4_000)]
    drawn = [information.drawn(k, 5, 40, rearranged=True, seed=9) for k in keys]
    counts = Counter(i for d in drawn for i in d)
    # Each of 5 chunks in 2 of 5 draws: 1,600 expected, standard deviation 31.
    assert all(abs(counts[i] - 1_600) < 4 * 31 for i in range(5))
    swapped = sum(d[0] > d[1] for d in drawn)
    assert abs(swapped - 2_000) < 4 * 31.7
    assert drawn != [information.drawn(k, 5, 40, rearranged=True, seed=8) for k in keys]


def test_levels_of_one_resume() -> None:
    shown = information.levels("a", TEXT, Information(buffer=0), by_topic, seed=1)
    assert [s.level for s in shown] == [10, 40, 60, 100]
    assert [(s.chunks, s.chunks_shown) for s in shown] == [(4, 1), (4, 2), (4, 2), (4, 4)]
    assert shown[3].text == TEXT  # the original, lines and all
    for s in shown:
        assert s.words == len(s.text.split())
    ordered = Information(buffer=0, rearranged=False, levels=(60,))
    (kept,) = information.levels("a", TEXT, ordered, by_topic, seed=1)
    assert sorted(kept.text.split()) == sorted(shown[2].text.split())


def test_all_of_the_text_needs_no_embedder() -> None:
    def never(texts):
        raise AssertionError("embedded")

    (all_of_it,) = information.levels("a", TEXT, Information(levels=(100,)), never, seed=1)
    assert (all_of_it.text, all_of_it.chunks) == (TEXT, None)


def test_the_local_model_divides_topics() -> None:
    similar = chunking.opened("embedding", {})
    text = (
        "Baked bread and rolls in a stone oven. Baked wedding cakes and pastries. "
        "Repaired diesel engines of trucks. Changed brakes and tires of trucks."
    )
    found = chunking.chunks(text, similar, percentile=70, buffer=0)
    assert [c.split()[0] for c in found] == ["Baked", "Repaired"]
    assert similar(["a cat", "a cat"])[0] == pytest.approx(1.0)


def test_an_embeddings_endpoint_divides_too(no_proxy) -> None:
    with serving() as server:
        params = {"provider": "openai_embeddings", "model": "any", "base_url": server.url}
        chunking.check_embedder("embedding_api", params, "here")
        prepared = chunking.prepared("embedding_api", params, "here")
        similar = chunking.opened("embedding_api", prepared)
        found = similar(PARTS)
        again = similar(PARTS)
        assert server.counts
    assert found.shape == (4,)
    assert np.array_equal(found, again)
    assert (np.abs(found) <= 1).all()


def test_an_endpoint_that_fails_says_so(no_proxy) -> None:
    with serving(faults={"400": 1.0}) as server:
        params = {"provider": "openai_embeddings", "model": "any", "base_url": server.url}
        prepared = chunking.prepared("embedding_api", params, "here")
        similar = chunking.opened("embedding_api", prepared)
        with pytest.raises(InputError, match=r"information\.embedder: gave no embedding \("):
            similar(PARTS[:2])


# --- a ready chunk file

HEADER = "Resume,10_diluted,0.4_diluted,60%_diluted\n"


def ready(folder: Path, rows: str, settings: Information | None = None):
    file = folder / "chunks.csv"
    file.write_text(HEADER + rows)
    return information.read_ready(file, settings or Information())


def test_a_ready_file_is_joined_on_the_resume(tmp_path: Path) -> None:
    found = ready(tmp_path, '"A  cook\nbakes",bakes,A cook,cook â€“ bakes\n')
    shown = information.from_ready("A cook bakes", "cook bakes", found, Information())
    assert [(s.level, s.text, s.words) for s in shown] == [
        (10, "bakes", 1), (40, "A cook", 2), (60, "cook – bakes", 3), (100, "cook bakes", 2),
    ]  # fmt: skip
    assert {s.chunks for s in shown} == {None}
    with pytest.raises(InputError, match="no row for the resume that begins 'Another'"):
        information.from_ready("Another", "Another", found, Information())


@pytest.mark.parametrize(("rows", "levels", "message"), [
    ("a,b,,d\n", (10, 40), ", line 2, 0.4_diluted: is empty. Fill it in, or remove the row."),
    (",b,c,d\n", (10,), ", line 2, Resume: is empty. Fill it in, or remove the row."),
    ("a,b,c,d\na,x,c,d\n", (10,), ", line 3, Resume: is a resume that an earlier row has with "
     "other texts. Keep one of them."),
    ("a,b,c,d\n", (10, 20), ": has no column 20_diluted. Columns: Resume, 10_diluted, "
     "0.4_diluted, 60%_diluted."),
])  # fmt: skip
def test_bad_ready_files(tmp_path: Path, rows: str, levels, message: str) -> None:
    with pytest.raises(InputError) as error:
        ready(tmp_path, rows, Information(levels=levels))
    assert str(error.value) == f"{tmp_path / 'chunks.csv'}{message}"


@pytest.mark.parametrize("given", [
    {"levels": []}, {"levels": [10, 10]}, {"levels": [0]}, {"levels": [101]}, {"breakpoint": 100},
    {"buffer": -1}, {"embedder": "planted"},
])  # fmt: skip
def test_settings_that_cannot_be(given: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Information.model_validate(given)
