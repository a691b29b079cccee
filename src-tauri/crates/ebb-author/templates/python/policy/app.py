"""{{name}}: gives memory back when a model holds much more than it uses.

What `wit_world` offers is made from `wit/`. Import at the top: once the component runs there are no files to import from.
"""

import functools
import json

from componentize_py_types import Err
from wit_world.exports.policy import Decision_Keep, Decision_Shrink
from wit_world.imports import plugin_host

from rule import worth_it


def told(hook):
    """An exception becomes a line in the plugin's log. Uncaught, it would end the instance, and its state with it."""

    @functools.wraps(hook)
    def call(*args):
        try:
            return hook(*args)
        except Exception as error:
            raise Err(f"{type(error).__name__}: {error}")

    return call


def setting(name, default):
    value = plugin_host.setting(name)
    return default if value is None else json.loads(value)


def decide(sample):
    in_use = sum(arena.in_use_bytes for arena in sample.arenas)
    reserved = sum(arena.reserved_bytes for arena in sample.arenas)
    if not worth_it(in_use, reserved, setting("ratio", 1.5), setting("slack_mib", 32)):
        return Decision_Keep()
    plugin_host.log(plugin_host.Level.INFO, f"{reserved} bytes are reserved, {in_use} in use: shrink")
    # No device named: every arena.
    return Decision_Shrink([])


class Policy:
    @told
    def on_run(self, run):
        return decide(run.after)

    @told
    def on_idle(self, model, idle_ms, now):
        return decide(now)

    @told
    def on_pressure(self, model, available_bytes, total_bytes, now):
        # The machine runs short: everything counts.
        return Decision_Shrink([])
