"""The texts of our own modules as a page carries them at its `<body>` (`static/texts.js`)."""

from __future__ import annotations

import json

from services.web.console.language import plural, translated


def script_texts() -> str:
    """JSON: each text by its name, or its forms by the names that browsers have for them."""
    return json.dumps(
        {
            "live": translated("live · %(at)s"),
            "not live": translated("not live"),
            "not live since": translated("not live since %(at)s"),
            "newer": _forms("%(count)s newer", "%(count)s newer"),
            "changed": translated("Something changed here since you opened this page."),
            "found": _forms("%(count)s found", "%(count)s found"),
            "silent": translated("The console does not answer. Try again."),
            "writing": _forms("%(names)s is writing", "%(names)s are writing"),
            "session over": translated(
                "Your session is over, and nothing was done. Sign in again in another tab; what you wrote is still "
                "here: copy it before you reload."
            ),
            "not done": translated("Not done."),
            "not done, silent": translated(
                "Not done: the console does not answer. Try again; what you wrote is still here."
            ),
            "theme": translated("Theme: system"),
            "theme light": translated("Theme: light"),
            "theme dark": translated("Theme: dark"),
            "density": translated("Density: roomy"),
            "density dense": translated("Density: dense"),
        },
        ensure_ascii=False,
    )


def _forms(one: str, many: str) -> dict[str, str]:
    return {"one": plural(one, many, 1), "other": plural(one, many, 2)}
