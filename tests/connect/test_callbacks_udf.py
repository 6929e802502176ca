"""The UDF of paired callbacks over Spark Connect: the numbers of the direct call."""

from __future__ import annotations

import json

from pyspark.sql.connect.session import SparkSession

import callback_tables as planted
from callback_tables import Planted
from fairscreen.audits import callback_panel, callback_slices, callbacks

MODELS = {"one": Planted(race=0.1, logprobs=True), "two": Planted(silent=(0.02, 0.02))}


def test_a_udf_run_is_the_direct_call(spark, tmp_path) -> None:
    assert isinstance(spark, SparkSession)
    cfg = planted.config(
        tmp_path, list(MODELS), "estimation.draws=99", "estimation.permutations=99",
        "estimation.slices=[within, state]",
    )  # fmt: skip
    docs = planted.pair_documents(30, names=4, placebo=0.3)
    scores, replies = planted.answers(docs, MODELS)
    shown, answered, known = (
        planted.table(spark, t, name).repartition(7)
        for t, name in ((docs, "pair_documents"), (scores, "scores"), (replies, "replies"))
    )
    lists = callbacks.codes(shown, cfg)
    pairs = callbacks.pairs(answered, shown, known, cfg, lists)
    found = {
        row["slot"]: json.loads(row["payload"])
        for row in callbacks.estimate(pairs, cfg, lists).collect()
    }
    frame, contrasts = pairs.toPandas(), [*cfg.contrasts, "placebo"]
    asked = callback_slices.Asked.of(cfg, lists.values, lists.names)
    for k in range(len(MODELS)):
        mine = frame[frame.model == k]
        for c, contrast in enumerate(cfg.contrasts):
            some = mine[mine.contrast.isin([c, 2])]
            want = callback_slices.analyse(some, asked, contrast=contrast)
            assert {key: found[3 * k + c][key] for key in want} == want
        want = callback_slices.analyse_placebo(mine[mine.placebo], asked)
        assert {key: found[3 * k + 2][key] for key in want} == want
    columns = [(m, c) for m in MODELS for c in contrasts[:2]]
    real = frame[~frame.placebo]
    want = callback_panel.gathered(real.assign(column=2 * real.model + real.contrast), columns)
    assert {key: found[6][key] for key in want} == want
    assert sorted(found) == list(range(7))
