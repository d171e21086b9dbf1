from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, Phase, settings

slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
phases = [Phase.explicit, Phase.generate, Phase.shrink]  # explaining a failure may take many minutes
for name, examples in (("ci", 10), ("thorough", 100)):
    settings.register_profile(
        name,
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=slow,
        phases=phases,
    )
settings.register_profile("long", max_examples=5000, deadline=None, suppress_health_check=slow)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background jobs; programs under test inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # as under nohup
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of tests call the command line: compile it once, as users do
