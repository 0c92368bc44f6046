"""Words that several modules read: the calendar's names, numbers, stop words. Data only."""

from __future__ import annotations

from ..models import TYPES, EntryType

MONTH_NAMES = tuple("january february march april may june july august september october november december".split())
MONTHS = {
    **{name: number for number, name in enumerate(MONTH_NAMES, 1)},
    **{name[:3]: number for number, name in enumerate(MONTH_NAMES, 1)},
    "sept": 9,
}
"""Every name of a month, `jan` and `sept` too: 1 to 12."""

DAY_NAMES = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
SHORT_DAYS = {"mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4, "sat": 5, "sun": 6}
WEEKDAYS = {**{name: number for number, name in enumerate(DAY_NAMES)}, **SHORT_DAYS}
"""Every name of a day of the week: 0 for Monday."""

NUMBERS = {
    word: number
    for number, word in enumerate(
        """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
        eighteen nineteen twenty""".split(),
        1,
    )
} | {word: 10 * tens for tens, word in enumerate("thirty forty fifty sixty seventy eighty ninety".split(), 3)}

COUNTS = {"a": 1, "an": 1, **NUMBERS}

STOP_WORDS = frozenset(
    """a about above after again all also am an and any are as at be because been before being below between both
    but by can could did do does doing down during each few for from further had has have having he her here hers
    him his how i if in into is it its itself just let me more most my myself no nor not now of off on once only or
    other our ours out over own same she should so some such than that the their theirs them then there these they
    this those through to too under until up very was we were what when where which while who whom why will with
    would you your yours s t d ll m re ve""".split()
)
"""Words that say nothing by themselves."""

TYPE_NAMES: dict[str, EntryType] = {
    form: name for name in TYPES for form in ((name,) if name == "progress" else (name, f"{name}s"))
}
"""Every type, alone and as a plural."""

TYPE_WORDS: dict[str, EntryType] = {
    **TYPE_NAMES,
    **dict.fromkeys("decide decides decided choose chose chosen agree agreed".split(), "decision"),
}
"""Words by which people ask for notes of a type, which need not say them."""

TOOLS = frozenset(
    """airflow ansible aws azure bash caddy cargo celery chrome circleci claude cloudflare confluence cursor cypress
    datadog debian django docker dropbox elasticsearch eslint excel express fastapi figma firefox flask gcp git
    github gitlab go golang gradle grafana graphql grpc hadoop helm heroku hugo java javascript jenkins jest jira
    jupyter kafka keycloak kotlin kubernetes linux loki macos mariadb markdown maven memcached mongo mongodb mypy
    mysql nagios netlify nginx node notion npm numpy obsidian openai oracle outlook pandas playwright pnpm podman
    postgres postgresql postman prometheus pulumi pytest python pytorch rabbitmq rails react redis ruby ruff rust
    salesforce sentry slack spark spring sqlite stripe svelte swift tableau tailwind teams temporal tensorflow
    terraform traefik trello typescript ubuntu vagrant vault vercel vim vite vue webpack windows zig zoom""".split()
)
"""Programs, libraries, languages, services."""

TOOLS_WITH_A_CAPITAL = frozenset(
    """cargo chrome cursor excel express flask go helm jest loki node notion oracle outlook react ruff rust sentry
    slack spring stripe swift teams temporal trello vault windows zoom""".split()
)
"""Those of them that are other words too, and are meant where they have a capital."""

FILE_ENDINGS = (
    r"pyi?|ipynb|m?js|jsx|tsx?|jsonl?|ya?ml|toml|ini|cfg|conf|env|md|txt|rst|csv|tsv|sql|sh|bash|ps1|bat|html|css|scss|xml"
    r"|go|rs|java|kt|c|h|cpp|hpp|cs|rb|php|swift|lua|pdf|docx?|xlsx?|pptx?|png|jpe?g|svg|gif|log|lock|db|sqlite|zip|gz|tar"
    r"|tf|vue|svelte|proto|parquet|plist"
)
"""A pattern of what stands after the dot of a file's name."""
