"""Keys by data subject: what is stored of a person is sealed with that person's key, and gone when the key is.

`aead` seals and opens bytes and JSON; `master` keeps the keys that wrap the others; `keyring` keeps the subjects'
keys. Who may read what follows from `owners`: a key is destroyed as soon as one of its owners is erased.
"""

from services.core.keys.aead import NotAuthentic, SubjectKey, is_sealed
from services.core.keys.keyring import Erased, ErasedMeanwhile, Keys
from services.core.keys.master import MasterKeyMissing, MasterKeys, read_master_keys

__all__ = [
    "Erased",
    "ErasedMeanwhile",
    "Keys",
    "MasterKeyMissing",
    "MasterKeys",
    "NotAuthentic",
    "SubjectKey",
    "is_sealed",
    "read_master_keys",
]
