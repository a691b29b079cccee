"""Where a running host is named: the same folders as every other part of Ebb finds."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Union

from .errors import EbbError, HostError, NotRunningError


@dataclass(frozen=True)
class Endpoint:
    """Who the running host is."""

    url: str
    token: str


def home() -> Path:
    """`EBB_HOME`, else the platform's data folder with `ebb` in it."""
    own = os.environ.get("EBB_HOME")
    if own:
        return Path(os.path.abspath(own))
    return _data_folder() / "ebb"


def _data_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    # A relative XDG folder is to be ignored, says the standard.
    own = os.environ.get("XDG_DATA_HOME", "")
    return Path(own) if os.path.isabs(own) else Path.home() / ".local" / "share"


def endpoint(folder: Union[str, "os.PathLike[str]", None] = None) -> Endpoint:
    """The host whose home is `folder`, or this user's."""
    path = (home() if folder is None else Path(os.path.abspath(folder))) / "run" / "host.json"
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        return Endpoint(url=str(fields["url"]), token=str(fields["token"]))
    except (FileNotFoundError, NotADirectoryError):
        raise not_running(str(path)) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise HostError(
            f"cannot read {path}: {error}", code="storage", hint=f"look at {path}", param=str(path)
        ) from error


def not_running(where: Optional[str]) -> EbbError:
    """Nothing answers, or there is no endpoint file."""
    return NotRunningError(
        "no Ebb host is running",
        code="not_found",
        hint="start one with 'ebb server start', then connect again",
        param=where,
    )
