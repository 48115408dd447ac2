"""The questions by which the judgement of facts is fitted are whole ones."""

from __future__ import annotations

import pytest
import yaml

from tests.benchmarks.fact_cue import BLIND, CLEAR, FUZZY, LANGUAGES, NEVER


@pytest.mark.parametrize("files", [LANGUAGES, BLIND], ids=["fitted on", "blind"])
def test_german_questions_were_torn_at_their_commas(files):
    """Each question that is put ends as a question, or is a sentence that asks."""
    for language, file in files.items():
        for person in yaml.safe_load(file.read_text(encoding="utf-8")):
            for kind in (CLEAR, FUZZY, NEVER):
                assert [one for one in person[kind] if one[-1] not in "?？.。"] == [], language
