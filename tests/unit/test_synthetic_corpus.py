"""The synthetic resumes that ship: those of the script, told as synthetic, without a cue."""

from __future__ import annotations

import pandas as pd

from fairscreen import resources
from fairscreen.documents.leakage import find_hits
from fairscreen.sources import corpus_files, synthetic_corpus

FILE = resources.path("conf", "data", "resumes_synthetic.parquet")


def test_the_file_is_what_the_script_makes() -> None:
    pd.testing.assert_frame_equal(pd.read_parquet(FILE), pd.DataFrame(synthetic_corpus.rows()))


def test_it_is_a_corpus_and_says_that_it_is_synthetic() -> None:
    found = list(corpus_files.read(FILE, corpus_files.Given()))
    assert {r.synthetic for r in found} == {True}
    assert len({r.resume_id for r in found}) == 300
    counts = pd.Series([r.occupation for r in found]).value_counts().to_dict()
    assert counts == dict.fromkeys(synthetic_corpus.INDUSTRIES, 100)
    assert min(corpus_files.words(r.text) for r in found) > 50


def test_no_resume_gives_anything_away() -> None:
    for resume in corpus_files.read(FILE, corpus_files.Given()):
        assert not find_hits(resume.text)


def test_other_corpora_are_not_called_synthetic() -> None:
    row = {"resume": "A clerk who files", "occupation": "X", "role": "Clerk"}
    at = dict.fromkeys(row, "here")
    assert not corpus_files._resume(0, None, row, at, corpus_files.Given()).synthetic
