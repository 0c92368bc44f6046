"""Words and patterns by which names are known. Data only."""

from __future__ import annotations

from ..lexicon import DAY_NAMES, FILE_ENDINGS, MONTHS, STOP_WORDS

EVENTS = frozenset("christmas easter halloween thanksgiving hanukkah diwali ramadan".split())
NO_NAMES = STOP_WORDS.union(MONTHS, DAY_NAMES, "ok okay am pm please thanks i'm i've i'd i'll".split())
ASKING = frozenset(
    """add anything anyone ask compare count describe everything explain find get give happened happen know let like
    list look made make many mention mentioned much people please recap remember remind said say search show summarise
    summarize summary tell thing things think thought use used want way latest recent newest last first""".split()
)
"""Words of asking rather than of what is asked for."""

TOOL = r"^(?:[A-Z][a-z]+[A-Z]\w*|[a-z]+[A-Z]\w*|[A-Z][A-Za-z]*\d\w*|[A-Za-z]{2}\w*(?:::|\.)[a-z]\w+|[A-Za-z]\w*_\w+)$"
"""CamelCase, Python3, os.path, snake_case."""

_EVENT_WORD = (
    r"(?:conference|meetup|meeting|workshop|birthday|wedding|party|festival|summit|retro\w*|stand-?up|marathon|parade"
    r"|hackathon|launch|release)"
)
_ORGANIZATION_WORD = r"(?:inc|gmbh|ltd|llc|corp|ag|team|university|company|foundation|institute|bank|department)"

Kinds = tuple[tuple[str, str], ...]
"""A kind and the pattern of what is of it; the first that fits decides."""

FORMS: Kinds = (  # of a word in lower case
    ("tag", r"^#"),
    ("person", r"^@"),
    ("unknown", r"^(?:https?:|www\.)|\.(?:com|org|net|io|dev|ai|app)$"),
    ("tool", r"^(?:node|next|nuxt|vue|moment|express|three|d3|chart|socket)\.(?:js|io)$|^[a-z]+\+\+$"),
    ("file", rf"^[\w~./\\+-]*\w\.(?:{FILE_ENDINGS})$|^(?:~|\.{{0,2}})/[\w.-]+/[\w./-]+$"),
)
LAST_WORD: Kinds = (  # of a name in lower case
    ("organization", rf"\b{_ORGANIZATION_WORD}\.?$|^team\b"),
    ("event", rf"\b{_EVENT_WORD}$"),
    ("location", r"\b(?:street|avenue|park|beach|island|lake|city|square|mountains?|valley|bay)$"),
)
AFTER: Kinds = (
    ("project", r"^ project\b"),
    ("organization", rf"^ {_ORGANIZATION_WORD}\b"),
    ("event", rf"^(?:'s)? {_EVENT_WORD}\b"),
    ("tool", r"^ (?:library|framework|database|server|cli|api|plugin|package|tool|config\w*)\b"),
    (
        "person",
        r"^'s?\b|^,? (?:says?|said|thinks?|thought|likes?|wants?|wanted|works?|worked|suggest\w*)\b"
        r"|^ (?:decide[ds]|mentions|mentioned|told|asked|made|wrote|fix(?:ed|es)|lives?|feels?|felt|got|went|met)\b"
        r"|^ (?:joined|moved|plans?|planned|and [A-Z])",
    ),
)
BEFORE: Kinds = (  # of a text in lower case
    ("project", r"\bproject $"),
    (
        "location",
        r"\b(?:in|near|around|outside|across|city of)(?: (?:the|downtown))? $"
        r"|\b(?:(?:trip|travel\w*|move[ds]?|moving|fl(?:y|ew|ight)|went|going|back|drove|relocat\w+) to"
        r"|visit(?:s|ed|ing)?) $",
    ),
    ("organization", r"\b(?:(?:work(?:s|ed|ing)?|jobs?|interview\w*|position|role|hired) (?:at|for|by)|company) $"),
    (
        "person",
        r"\b(?:mr|mrs|ms|dr|prof)\.? $"
        r"|\b(?:with|by|tell|told|asked?|met|did|does|has|had|would|should|whether|because) $",
    ),
)
