"""Master keys: made once, kept for the owner alone, turned without losing what former ones wrapped."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import UUID

import pytest

from services.core.keys.aead import SubjectKey
from services.core.keys.master import FILE, MasterKeyMissing, MasterKeysWrong, add_master_key, read_master_keys

KEY = SubjectKey(UUID(int=7), b"k" * 32)


def test_the_first_start_makes_one_that_only_its_owner_can_read(tmp_path: Path) -> None:
    """It lies below home with mode 600, and the next start finds the same one."""
    first = read_master_keys(tmp_path / "home")
    assert (tmp_path / "home" / FILE).stat().st_mode & 0o777 == 0o600
    assert read_master_keys(tmp_path / "home").secrets == first.secrets


def test_processes_that_start_at_once_agree(tmp_path: Path) -> None:
    """Whoever is first makes it."""
    with ThreadPoolExecutor(8) as pool:
        found = {one.secrets for one in pool.map(read_master_keys, [tmp_path] * 8)}
    assert len(found) == 1


def test_a_former_master_key_still_unwraps(tmp_path: Path) -> None:
    """A new one wraps what is made from now on; what the old one wrapped is not lost."""
    before = read_master_keys(tmp_path)
    wrapped = before.wrap(KEY)
    add_master_key(tmp_path)
    after = read_master_keys(tmp_path)
    assert after.current != before.current
    assert after.unwrap(KEY.id, before.current, wrapped) == KEY
    with pytest.raises(MasterKeyMissing, match=after.current):
        before.unwrap(KEY.id, after.current, after.wrap(KEY))


@pytest.mark.parametrize("text", ["abc", "zz" * 32, "ab" * 32 + " short", "ab" * 33])
def test_what_is_no_key_is_refused_in_words(tmp_path: Path, text: str) -> None:
    """One key a line, 64 hexadecimal digits each."""
    with pytest.raises(MasterKeysWrong, match="64 hex"):
        read_master_keys(tmp_path, text)
