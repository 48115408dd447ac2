"""Where raw mails and attachments are kept, and how an object store is spoken to."""

from __future__ import annotations

import re

from pydantic import Field, SecretStr, field_validator

from services.core.settings.group import Group

_BUCKET = re.compile(r"(s3://[^/\s]+(/\S*)?)?")


class S3Access(Group):
    """How an object store that speaks S3 is reached. What is not set is looked for where AWS's own tools look."""

    endpoint: str = Field("", description="address of a compatible store, such as https://minio.example; else Amazon's")
    region: str = Field("", description="by default as AWS_REGION says")
    access_key_id: str = Field("", description="by default as AWS_ACCESS_KEY_ID or the machine's role says")
    secret_access_key: SecretStr = SecretStr("")


class BlobSettings(S3Access):
    """Where bodies and attachments are kept: in a folder, or in an object store that speaks S3."""

    url: str = Field("", description="s3://BUCKET or s3://BUCKET/PREFIX; by default the folder `blobs` below home")

    @field_validator("url")
    @classmethod
    def _is_a_bucket(cls, url: str) -> str:
        if not _BUCKET.fullmatch(url):
            raise ValueError("this has to be s3://BUCKET or s3://BUCKET/PREFIX, or nothing for a folder")
        return url
