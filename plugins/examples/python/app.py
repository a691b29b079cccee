"""After a burst: leaves a model alone while requests come thick and fast, and gives memory back once they have stopped."""

import functools
import json

from componentize_py_types import Err
from wit_world.exports.policy import Decision_Keep, Decision_Shrink
from wit_world.imports import plugin_host

from burst import Bursts


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


# An instance serves one model, so what it remembers can lie here.
bursts = Bursts()


class Policy:
    @told
    def on_run(self, run):
        bursts.ran(run.after.at_ms, setting("gap_ms", 2000))
        return Decision_Keep()

    @told
    def on_idle(self, model, idle_ms, now):
        runs = bursts.in_a_row
        if not bursts.is_over(idle_ms, setting("runs", 5), setting("calm_ms", 3000)):
            return Decision_Keep()
        plugin_host.log(plugin_host.Level.INFO, f"a burst of {runs} requests is over: shrink")
        return Decision_Shrink([])

    @told
    def on_pressure(self, model, available_bytes, total_bytes, now):
        return Decision_Shrink([])
