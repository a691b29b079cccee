"""The connection to a host, and what concerns the host as a whole."""

from __future__ import annotations

import os
from dataclasses import asdict
from types import TracebackType
from typing import Any, Dict, List, Optional, Sequence, Type, Union

from .connection import Connection, to_json
from .events import EventStream
from .fetch import DemoModel, DemoModelList, PullStream
from .machine import HostLog, HostLogLine, ShrinkAllReport, System
from .model import Model
from .places import endpoint
from .plugin import Plugin
from .record import read
from .records import (
    AddedKey,
    CatalogueEntry,
    Check,
    Doctor,
    HostStatus,
    KeyEntry,
    KeyList,
    ModelEntry,
    ModelList,
    OptionList,
    PluginEntry,
    PluginList,
    Profile,
    ProfileList,
)
from .words import Targets, load_options, targets


def connect(
    url: Optional[str] = None,
    key: Optional[str] = None,
    *,
    home: Union[str, "os.PathLike[str]", None] = None,
) -> "Client":
    """The running host of this user, found by its endpoint file; or the one at `url`, with a key that `ebb key add` made.
    `home` stands for another `EBB_HOME`. Nothing is sent yet."""
    if url is None:
        found = endpoint(home)
        return Client(found.url, found.token if key is None else key)
    return Client(url, key)


class Client:
    """A running host. Threads may share it."""

    def __init__(self, url: str, key: Optional[str] = None) -> None:
        self._way = Connection(url, key)
        #: The host's address.
        self.url = url

    def __repr__(self) -> str:
        return f"<ebb.Client of {self.url}>"

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections that are kept. It can still be used: the next request opens one."""
        self._way.close()

    def model(self, alias: str) -> Model:
        """The model of that alias. Nothing is asked of the host yet."""
        return Model(self._way, alias)

    def models(self) -> List[ModelEntry]:
        """Every model of the catalogue."""
        return read(ModelList, self._way.get("models")).models

    def add_model(self, path: Union[str, "os.PathLike[str]"], alias: Optional[str] = None) -> ModelEntry:
        """Adds a model to the catalogue: its folder or file, and its alias, else the folder's name."""
        body: Dict[str, Any] = {"path": os.path.abspath(path)}
        if alias is not None:
            body["alias"] = alias
        return read(ModelEntry, self._way.post(["models"], body))

    def pull_model(
        self, model: str, *, revision: Optional[str] = None, alias: Optional[str] = None, force: bool = False
    ) -> PullStream:
        """Has the host download a model of the Hub (`hf:ORG/NAME`), import it where it must be, and add it. `entry()` waits
        for it; leaving the stream before its end ends it."""
        body = {"model": model, "revision": revision, "alias": alias, "force": force}
        return PullStream(self._way.lines("POST", ["models", "pull"], {}, to_json(body)))

    def import_model(
        self, path: Union[str, "os.PathLike[str]"], *, alias: Optional[str] = None, force: bool = False
    ) -> PullStream:
        """Has the host make an ONNX model of foreign weights, and add it; what is ONNX already is added where it lies."""
        body = {"path": os.path.abspath(path), "alias": alias, "force": force}
        return PullStream(self._way.lines("POST", ["models", "import"], {}, to_json(body)))

    def demo_models(self) -> List[DemoModel]:
        """Small models to begin with: where each lies on this machine, or what to pull."""
        return read(DemoModelList, self._way.get("demo-models")).models

    def shrink_all(self, named: Optional[Targets] = None) -> ShrinkAllReport:
        """Gives the free memory of every loaded model back now: of all arenas, or of those named."""
        body = {} if named is None else {"targets": targets(named)}
        return read(ShrinkAllReport, self._way.post(["models", "shrink-all"], body))

    def plugin(self, id: str) -> Plugin:
        """The plugin of that id. Nothing is asked of the host yet."""
        return Plugin(self._way, id)

    def plugins(self) -> List[PluginEntry]:
        """Every plugin."""
        return read(PluginList, self._way.get("plugins")).plugins

    def install_plugin(self, path: Union[str, "os.PathLike[str]"], *, replace: bool = False) -> PluginEntry:
        """Installs a plugin from its component, or from its folder while it is developed."""
        body = {"path": os.path.abspath(path), "replace": replace}
        return read(PluginEntry, self._way.post(["plugins"], body))

    def status(self) -> HostStatus:
        """How the host fares."""
        return read(HostStatus, self._way.get("status"))

    def doctor(self) -> List[Check]:
        """What is there and what is missing."""
        return read(Doctor, self._way.get("doctor")).checks

    def system(self, *, folders: bool = False) -> System:
        """The machine: memory, devices, runtimes, what each model holds; and how large Ebb's folders are, if wanted."""
        return read(System, self._way.get("system", folders="true" if folders else None))

    def log(self, lines: int = 100) -> List[HostLogLine]:
        """The last lines of the host's own log, oldest first."""
        return read(HostLog, self._way.get("log", lines=lines)).lines

    def shutdown(self, drain_ms: Optional[int] = None) -> HostStatus:
        """Has the host finish what is in flight, for `drain_ms` at most (10 s where not given), and end."""
        return read(HostStatus, self._way.post(["shutdown"], {} if drain_ms is None else {"drain_ms": drain_ms}))

    def options(self, words: str = "") -> List[CatalogueEntry]:
        """Catalogue entries of options that contain every word; all of them for an empty text."""
        return read(OptionList, self._way.get("options", search=words)).options

    def profiles(self) -> List[Profile]:
        """Every profile: built-in ones first, then by name."""
        return read(ProfileList, self._way.get("profiles")).profiles

    def profile(self, name: str) -> Profile:
        """One profile."""
        return read(Profile, self._way.get("profiles", name))

    def save_profile(self, profile: Profile) -> Profile:
        """Saves a profile under its name, over one of that name."""
        body = {**asdict(profile), "options": load_options(profile.options)}  # type: ignore[arg-type]
        return read(Profile, self._way.put(["profiles", profile.name], body))

    def remove_profile(self, name: str) -> Profile:
        """Removes a profile and gives what it was."""
        return read(Profile, self._way.delete("profiles", name))

    def keys(self) -> List[KeyEntry]:
        """Every key of an app, without its secret."""
        return read(KeyList, self._way.get("keys")).keys

    def add_key(self, name: str, scopes: Sequence[str] = ("infer",)) -> AddedKey:
        """Makes a key for an app, with the scopes `infer` and `control`. It is in the answer, and never shown again."""
        return read(AddedKey, self._way.post(["keys"], {"name": name, "scopes": list(scopes)}))

    def remove_key(self, name: str) -> KeyEntry:
        """Removes a key: it opens nothing from here on."""
        return read(KeyEntry, self._way.delete("keys", name))

    def events(self, history: int = 0) -> EventStream:
        """What happens to models from now on, after the last `history` events that the host keeps."""
        query = {"history": str(history)} if history else {}
        return EventStream(self._way.lines("GET", ["events"], query, None))
