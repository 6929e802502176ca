"""AWS credentials of a model, resolved by the driver anew for each wave.

`aws_credentials` says where from. Nothing but the environment is looked at unless it says so: an
audit must not be paid by whatever profile happens to lie in a home folder.

    environment   AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, for temporary ones,
                  AWS_SESSION_TOKEN (the default)
    profile:NAME  that profile of the AWS configuration files, by botocore: keys, SSO, an assumed
                  role, a program (credential_process)
    chain         botocore's own order: environment, AWS_PROFILE, files, container, instance

What botocore can renew it hands out with at least ten minutes to go, and a wave takes five. A
process cannot be given a new environment: temporary credentials there end the run when they do.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from fairscreen.errors import InputError, MissingPartError

PATTERN = r"^(environment|chain|profile:\S+)$"
NAMES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
_PROFILE = "profile:"


def parts(where: str, source: str, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The credentials under the names of `NAMES`; the token is left out where there is none.

    Raises InputError where `source` holds none, MissingPartError without botocore.
    """
    if source != "environment":
        return _by_botocore(where, source)
    found = {name: environ[name] for name in NAMES if environ.get(name)}
    if len(found.keys() & set(NAMES[:2])) < 2:
        raise InputError(
            where,
            "there are no AWS credentials in the environment",
            f"Set {NAMES[0]} and {NAMES[1]} (and {NAMES[2]} for temporary ones), or give "
            "aws_credentials: profile:NAME, or key_env: AWS_BEARER_TOKEN_BEDROCK.",
        )
    return found


def _by_botocore(where: str, source: str) -> dict[str, str]:
    try:
        from botocore.exceptions import BotoCoreError
        from botocore.session import Session
    except ImportError:
        raise MissingPartError(
            "botocore",
            f"is not installed; aws_credentials: {source} needs it",
            "Run `pip install fairscreen[bedrock]`, or leave aws_credentials out.",
        ) from None
    profile = source.removeprefix(_PROFILE) if source.startswith(_PROFILE) else None
    try:
        # A session of its own each time: one that is kept would keep what it read.
        credentials = Session(profile=profile).get_credentials()
        frozen = credentials.get_frozen_credentials() if credentials else None
    except BotoCoreError as error:  # its text may hold what a program printed
        raise InputError(
            f"{where}.aws_credentials",
            f"{source} gives no credentials ({type(error).__name__})",
            "Look at the profile, or log in again (`aws sso login`).",
        ) from None
    values = (frozen.access_key, frozen.secret_key, frozen.token) if frozen else ()
    if len([v for v in values if v]) < 2:
        raise InputError(
            f"{where}.aws_credentials",
            f"{source} gives no credentials",
            "Give a profile that has some, or set them in the environment.",
        )
    return {name: value for name, value in zip(NAMES, values, strict=True) if value}
