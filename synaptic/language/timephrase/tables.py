"""The words of times, and those that tell a time from something else. Data only."""

from __future__ import annotations

from ..lexicon import COUNTS, MONTHS, WEEKDAYS

# --- what names a time ---

ONLY_MONTHS = frozenset("january february july september october november december".split())
"""Names of months that are nothing else."""
NAMES_TOO = frozenset(("may", "jan", "mar"))
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
QUARTERS = {f"q{n}": n for n in range(1, 5)}
HALVES = {"h1": 1, "h2": 2}
NEAR_DAYS = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}
PARTS_OF_DAY = frozenset("morning afternoon evening night midday".split())
DECADES = {
    "twenties": 2020, "thirties": 1930, "forties": 1940, "fifties": 1950, "sixties": 1960, "seventies": 1970,
    "eighties": 1980, "nineties": 1990,
}  # fmt: skip
FEASTS = frozenset(("christmas", "xmas", "easter", "thanksgiving", "halloween", "new"))

SOME = frozenset(("few", "several"))
ORDINALS = {w: n for n, w in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1)}
ORDINALS |= {"1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "5th": 5, "last": -1, "final": -1}
UNIT_NAMES = tuple("minute hour day week fortnight month quarter year decade".split())
UNITS = {name: name for name in UNIT_NAMES} | {f"{name}s": name for name in UNIT_NAMES}
UNITS |= {"hrs": "hour", "mins": "minute", "wk": "week", "wks": "week", "yr": "year", "yrs": "year"}
SHORT_UNITS = {"h": "hour", "d": "day", "w": "week", "mo": "month", "y": "year"}

LAST, THIS, NEXT = -1, 0, 1
DIRECTIONS = {"last": LAST, "previous": LAST, "past": LAST, "this": THIS, "current": THIS}
DIRECTIONS |= {"next": NEXT, "coming": NEXT, "upcoming": NEXT}
THIRDS = {"early": 0, "mid": 1, "late": 2}
THIRDS_OF = {"beginning": 0, "start": 0, "middle": 1, "end": 2}

# --- prepositions, and what each of them goes with ---

PREPOSITIONS = {word: word for word in "in on during at of over within throughout from since after before".split()}
PREPOSITIONS |= {"until": "until", "till": "until", "til": "until", "by": "until", "around": "around"}
PREPOSITIONS |= {"between": "between"}
LONG_PREPOSITIONS = {("up", word): "until" for word in ("to", "until", "till")}
LONG_PREPOSITIONS |= {("prior", "to"): "before", ("as", "of"): "of"}
BOUNDS = frozenset(("since", "after", "before", "until", "around", "over", "between"))
OF_SEASONS = frozenset("in during since after before until around within throughout between over from".split())
OF_MONTHS = OF_SEASONS | {"of"}
OF_MAY = frozenset("in during since before until between within throughout".split())
OF_YEARS = frozenset("in of during since before after until from between throughout around".split())
OF_DECADES = frozenset("share in during of from since before until throughout between".split())
OF_ORDINALS = frozenset("on since before after until from around between".split())
DASHES = frozenset("-–—")
LISTED = DASHES | {"to", "and", "or"}

OPENERS = frozenset(
    {
        *"the week weekend day month quarter year calendar earlier later prior up couple as".split(),
        *(PREPOSITIONS | DIRECTIONS | THIRDS | THIRDS_OF | NEAR_DAYS | COUNTS | ORDINALS),
        *(MONTHS | WEEKDAYS | SEASONS | QUARTERS | HALVES),
        *(SOME | FEASTS),
    }
)
"""Words, besides numbers, with which a phrase may begin."""

# --- what stands around a word that only looks like a time ---

GOES_ON = frozenset(
    """a about again all also am an and any are as at because been but by can could did do does during each for from
    had has have he her his here how i if in into is it its my no not on only or our over regarding she should so some
    than that the their then there these they this those until vs was we were what when where which while who whom
    whose why will with without would you your""".split()
)
"""Words after which a phrase has ended; any other may be a noun that the phrase only describes ("the 3rd try")."""

AFTER_VERB_MAY = frozenset(
    "i we you he she it they be not have need also well or the this that still just only also as".split()
)
COUNTED = frozenset(
    """row rows line lines file files item items entries records token tokens word words byte bytes bit bits kb mb gb tb
    ms sec secs seconds minutes hours days weeks months px pixels chars characters requests samples points steps
    dimensions times percent usd eur dollars euros km m kg g w watts rpm hz mhz connections vectors chunks nodes
    iterations epochs""".split()
)
"""What follows a count, so that the number before it is no year."""

COUNTED_TOO = COUNTED | frozenset(
    """users tests commits errors issues tickets people messages calls notes pages images queries customers""".split()
)
"""The same after "of", "by" and "from"; "in 2024 customers left" names a year."""

MEASURES = frozenset(
    """port limit size buffer batch max maximum min minimum total count chunk chunks out instead sum number power code
    average mean budget price cost value length window width height reduced increased up down rate error capacity
    default batches""".split()
)
"""What is followed by "of 2048" or "by 2000" and means an amount."""

EVERY = frozenset(("every", "each", "per"))
NOT_BEFORE_A_DAY = EVERY | frozenset("black cyber good ash fat the a an any all to and or through other - – —".split())
SPRINGS = frozenset("boot framework cloud security mvc data batch cleaning loaded guys back guy water".split())
