"""A note as it reads by itself: dates for "yesterday", names for "she" and "it". Pure, English, without a model.

| in a note of Saturday 2026-11-21     | reads                                        |
|--------------------------------------|----------------------------------------------|
| yesterday, 3 days ago, last Tuesday  | 2026-11-20, 2026-11-18, 2026-11-17           |
| last week                            | 2026-11-09 to 2026-11-15                     |
| last month, last year                | 2026-10, 2025                                |
| Anna is ill. She called.             | Anna is ill. Anna called.                    |
| We moved to Kestrel. It is fast.     | We moved to Kestrel. Kestrel is fast.        |

A wrong name is worse than a pronoun that stays: whatever could mean two things is left as it is. Code, links,
comments and quotations are never touched. Every pattern is bounded, so that no text takes long.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal, NamedTuple

from .blocks import scan

MAX_LENGTH = 20_000
"""Characters of a note that are looked at; what follows stays as it is."""


@dataclass(frozen=True, slots=True)
class Change:
    """`was`, which stands at the offset `start` of the text, reads `now`."""

    was: str
    now: str
    kind: Literal["time", "coreference"]
    start: int


@dataclass(frozen=True, slots=True)
class Normalized:
    """The text with all `changes` made; their offsets are those of the text as it was."""

    text: str
    changes: tuple[Change, ...]


def normalize(text: str, *, on: date) -> Normalized:
    """The text with its relative times as dates and its unmistakable pronouns as names. Never raises.

    `on` is the day on which the note was written.
    """
    changes = tuple(sorted((*anchor_times(text, on=on), *resolve_pronouns(text)), key=lambda change: change.start))
    pieces: list[str] = []
    at = 0
    for change in changes:
        pieces += text[at : change.start], change.now
        at = change.start + len(change.was)
    return Normalized("".join([*pieces, text[at:]]), changes)


# --- what is never touched ---

_CODE = "\x1e"
_HIDDEN = "\x1f"
_TICKS = re.compile("`+")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_FOREIGN = re.compile(
    r"\[\[[^\[\]\n]{0,300}\]\]|\[[^\[\]\n]{0,300}\](?:\([^()\n]{0,500}\)|\[[^\[\]\n]{0,100}\])"  # links
    r"|<!--(?:[^-]|-(?!->)){0,2000}-->|</?[A-Za-z][^<>\n]{0,300}>"
    r"|\b(?:https?|ftp|file|ssh)://\S{1,2000}|\bwww\.\S{1,500}|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}"
    r"|(?<![\w#@])[#@][\w/-]{1,100}"
    r"|^[ \t]{0,3}>[^\n]*"
    r'|"(?:[^"\n]|\n(?![ \t]*(?:\n|[-*+#>]))){1,600}"'
    r"|“[^“”]{1,600}”|„[^„“”]{1,600}[“”]|«[^«»]{1,600}»|‘[^‘’\n]{1,300}(?:’\w[^‘’\n]{0,300}){0,5}’(?!\w)"
    r"|(?<![\w'’)])'(?=\w)(?:[^'\n]|(?<=\w)'(?=\w)){1,300}(?<=\S)'(?!\w)",
    re.MULTILINE,
)
_INDENTED = re.compile(r"(?:\A|\n[ \t]*\n)((?:(?: {4}|\t)(?![ \t]*(?:[-*+]|\d{1,3}[.)])[ \t])[^\n]+(?:\n|\Z))+)")


def _shown(text: str) -> str:
    """The text, as long as it was, with control characters for what is code, a link, a comment or a quotation."""
    text = text.replace(_CODE, " ").replace(_HIDDEN, " ")
    for start, end in [*scan(text).opaque, *(found.span(1) for found in _INDENTED.finditer(text))]:
        text = _hide(text, start, end, _HIDDEN)
    for start, end in _code_spans(text):
        text = _hide(text, start, end, _CODE)
    return _FOREIGN.sub(_hidden, text)


def _hidden(found: re.Match[str]) -> str:
    """Control characters, but the end of a quoted sentence stays, which ends the sentence around it too."""
    signs = re.sub(r"[^\n]", _HIDDEN, found[0])
    return f"{signs[:-2]}{found[0][-2]}{_HIDDEN}" if found[0][-2:-1] in (".", "!", "?") else signs


def _hide(text: str, start: int, end: int, sign: str) -> str:
    return text[:start] + re.sub(r"[^\n]", sign, text[start:end]) + text[end:]


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    runs: dict[int, list[int]] = {}
    for run in _TICKS.finditer(text):
        runs.setdefault(len(run[0]), []).append(run.start())
    limits = [found.start() for found in _BLANK_LINE.finditer(text)] if runs else []
    at = 0
    for run in _TICKS.finditer(text):
        if run.start() < at:
            continue
        same = runs[len(run[0])]
        closing = bisect_right(same, run.start())
        paragraph = bisect_left(limits, run.start())
        if closing < len(same) and (paragraph == len(limits) or same[closing] < limits[paragraph]):
            at = same[closing] + len(run[0])
            yield run.start(), at


# --- times ---

_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTHS = "january february march april may june july august september october november december".split()
_NUMBERS = {
    **dict.fromkeys(("a", "an"), 1),
    **{word: n for n, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)},
    "fourteen": 14, "fifteen": 15, "twenty": 20, "thirty": 30, "ninety": 90,
}  # fmt: skip
_ = r"(?:[ \t]{1,3}|[ \t]{0,3}\n[ \t]{0,3})"
_DAY = f"(?:{'|'.join(_DAYS)})"
_COUNT = rf"(?:\d{{1,4}}|{'|'.join(_NUMBERS)})"
_TIME = re.compile(
    rf"""(?<![\w/\\.@#$%&'’+=-])(?:
      (?P<around>(?:the{_})?day{_}(?:before{_}yesterday|after{_}tomorrow))
    | (?P<day>yesterday|today|tonight|tomorrow|this{_}(?:morning|afternoon|evening)|last{_}(?:night|evening))
    | (?P<ago>{_COUNT}){_}(?P<ago_unit>day|week|fortnight|month|year)s?{_}
      (?:ago(?:{_}today)?|(?P<later>from{_}(?:now|today)))
    | in{_}(?P<ahead>{_COUNT}){_}(?P<ahead_unit>day|week|fortnight|month|year)s?(?:['’]{_}time|{_}time)?
    | (?:(?P<weekday>{_DAY}){_}(?:(?:of|in){_})?(?P<its_week>last|this|next){_}week)
    | (?:(?P<that_week>last|this|next){_}week{_}(?:on{_})?(?P<on_weekday>{_DAY}))
    | (?P<which>last|this|next){_}(?P<what>week(?:end)?|month|year|{_DAY})
    )(?![\w/\\@=+-]|\.\w|['’](?!s\b)[\w])""",
    re.IGNORECASE | re.VERBOSE,
)
_DAY_SHIFT = {"yesterday": -1, "tomorrow": 1, "last night": -1, "last evening": -1}
_STARTS_SENTENCE = re.compile(r"(?:\A|[\n.!?:;—–(|\]]|(?<=\s)-)[ \t*_#>(\-+]*(?:\d{1,3}[.)][ \t]+)?\Z")
_INITIAL = re.compile(r"(?:\b[A-Z]|\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs))\.[ \t]*\Z")
_DETERMINED = re.compile(
    r"\b(?:the|a|an|each|every|these|those|that|this|any|some|no|past|very|my|our|your|his|her|its|their|[\w]+['’]s)"
    rf"{_}\Z",
    re.IGNORECASE,
)
_FOLLOWED_BY_OF = re.compile(
    rf"{_}(?:of|before)\b|{_}in{_}(?:the{_})?(?:{'|'.join(_MONTHS)}|month|quarter|year)\b", re.I
)
_VAGUE = re.compile(
    rf"(?:\b(?:half|than|over|under|least|most|nearly|almost|every|no|\w+teen|{'|'.join(list(_NUMBERS)[2:])}|hundred)"
    rf"|\b(?:or|to|and|between)|\d{_}?[–—-]){_}?\Z|\d,\Z",
    re.IGNORECASE,
)
_COUNT_BEFORE = re.compile(rf"\b{_COUNT}{_}(?:\w+{_})?(?:or|to|and)\s*\Z|\bbetween\s*\Z|\d\s*[–—-]\s*\Z", re.IGNORECASE)
_TITLE_AFTER = re.compile(
    r"[ ](?:Show|Tonight|Never|Land|Corp|Inc|Ltd|GmbH|Labs?|AI|App|Group|Media|Project|Club|Magazine|FM|Once)\b"
    r"|[ ](?:is|was)[ ](?:a|an|the)[ ](?:\w+[ ])?(?:film|song|movie|book|album|band|play|novel|show|newspaper)\b"
)
_SHOUTED_BEFORE = re.compile(r"[A-Z]{2}\W*\Z")
_SHOUTED_AFTER = re.compile(r"\W*[A-Z]{2}")
_NOWADAYS = re.compile(r"['’]s[ ](?:world|standards?|society|youth|age|generation|internet|climate|economy)\b", re.I)
_IDIOM = re.compile(rf"\b(?:born|no|better|brighter|of{_}the){_}\Z", re.IGNORECASE)
_FUTURE = re.compile(
    r"\b(?:will|shall|going\s+to|gonna|is|are|am|be|due|expires?|ends?|starts?|begins?|ships?|launch(?:es)?|runs?|"
    r"returns?|arrives?|moves?|leaves?|flies|opens?|closes?|again|back|meet|check|review|retry|remind|next|let['’]s|"
    r"plan|planned|scheduled|must|need|should|comes?|happens?|goes)\b|['’](?:ll|s|re|m)\b",
    re.IGNORECASE,
)
_SPAN_OF_WORK = re.compile(
    r"\b(?:has|have|had|can|could|cannot|takes?|took|possible|once|twice|times|first|only|not|never|done|finished|"
    r"[a-z]{2,}ed|built|wrote|made|grew|went|fell|rose|got|was|were|did|lost|spent|learnt|read|saw|came|cut|fix|within|"
    r"learn|finish|done|per)\b|n['’]t\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    rf"{_}(?:of|or|ago|later|before|after|for{_}the{_}first|straight|flat|at{_}most|on{_}average|and)\b", re.I
)
_CLAUSE = re.compile(r"[.!?;\n](?=\s|\Z)")


def anchor_times(text: str, *, on: date) -> tuple[Change, ...]:
    """What each relative time in a note of the day `on` means: a date, two dates, a month or a year. Never raises.

    Times that only look relative stay: "the last week of May", "took two weeks", "in 2 days of work", "USA Today".
    """
    shown = _shown(text[:MAX_LENGTH])
    changes = []
    for found in _TIME.finditer(shown):
        if not _is_meant(found, shown):
            continue
        try:
            now = _date_of(found, on)
        except (OverflowError, ValueError):  # before year 1 or after 9999
            continue
        changes.append(Change(text[found.start() : found.end()], now, "time", found.start()))
    return tuple(changes)


def _is_meant(found: re.Match[str], shown: str) -> bool:
    before, after = shown[max(0, found.start() - 60) : found.start()], shown[found.end() : found.end() + 40]
    if not _is_cased_as_words(found[0], before, after):
        return False
    if found["day"]:
        return not (_NOWADAYS.match(after) or _IDIOM.search(before))
    if found["ago"]:
        return not (_VAGUE.search(before) or _COUNT_BEFORE.search(before))
    if found["ahead"]:
        return _is_ahead(found, shown, after)
    if found["which"]:
        what = found["what"].lower()
        if what in _DAYS and found["which"].lower() == "this" and _DETERMINED.search(before):
            return False
        return not (_DETERMINED.search(before) or _FOLLOWED_BY_OF.match(after))
    return True


def _is_cased_as_words(phrase: str, before: str, after: str) -> bool:
    """Whether the phrase is no name: "USA Today", "Last Week Tonight"."""
    plain = re.sub(_DAY, "", phrase, flags=re.IGNORECASE).lstrip()
    if plain[:1].islower() or plain[:1].isdigit():
        return plain == plain.lower()
    if phrase.isupper():  # emphasis, unless all around it shouts
        return not (_SHOUTED_BEFORE.search(before) or _SHOUTED_AFTER.match(after))
    rest = plain[1:]
    if rest != rest.lower() or _INITIAL.search(before) or not _STARTS_SENTENCE.search(before):
        return False
    return not _TITLE_AFTER.match(after)


def _is_ahead(found: re.Match[str], shown: str, after: str) -> bool:
    """Whether "in 3 days" tells when, and not how long something takes."""
    if _GOES_ON.match(after):
        return False
    if "time" in found[0].lower():
        return True
    breaks = [clause.end() for clause in _CLAUSE.finditer(shown, max(0, found.start() - 300), found.start())]
    clause = shown[breaks[-1] if breaks else max(0, found.start() - 300) : found.start()]
    if re.search(r"\b(?:will|shall|due|going\s+to|expires?|scheduled|planned)\b|['’]ll\b", clause, re.IGNORECASE):
        return not re.search(r"\b(?:once|twice|times|first|only)\b", clause, re.IGNORECASE)
    if _SPAN_OF_WORK.search(clause):
        return False
    return found["ahead"].lower() not in ("a", "an") or bool(_FUTURE.search(clause))


def _date_of(found: re.Match[str], on: date) -> str:
    if found["around"]:
        return _moved(on, -2 if "yesterday" in found[0].lower() else 2)
    if found["day"]:
        return _moved(on, _DAY_SHIFT.get(" ".join(found["day"].lower().split()), 0))
    if found["ago"]:
        return _counted(on, found["ago"], found["ago_unit"], 1 if found["later"] else -1)
    if found["ahead"]:
        return _counted(on, found["ahead"], found["ahead_unit"], 1)
    monday = on - timedelta(days=on.weekday())
    weekday = found["weekday"] or found["on_weekday"]
    if weekday:
        shift = _step(found["its_week"] or found["that_week"])
        return _moved(monday, 7 * shift + _DAYS.index(weekday.lower()))
    shift, what = _step(found["which"]), found["what"].lower()
    if what == "week":
        return _range(monday + timedelta(weeks=shift), 6)
    if what == "weekend":
        return _range(monday + timedelta(weeks=shift, days=5), 1)
    if what in _DAYS:
        return _nearest(on, _DAYS.index(what), shift)
    return _month(on, shift) if what == "month" else _year(on, shift)


def _step(which: str) -> int:
    return {"last": -1, "this": 0, "next": 1}[which.lower()]


def _nearest(on: date, weekday: int, shift: int) -> str:
    """The weekday before `on`, after it, or, for 0, on the day or after it."""
    ahead = (weekday - on.weekday()) % 7
    if shift < 0:
        return _moved(on, ahead - 7)
    return _moved(on, ahead or 7 * shift)


def _counted(on: date, count: str, unit: str, sign: int) -> str:
    number = sign * (int(count) if count.isdigit() else _NUMBERS[count.lower()])
    days = {"day": 1, "week": 7, "fortnight": 14}.get(unit.lower())
    if days:
        return _moved(on, days * number)
    return _month(on, number) if unit.lower() == "month" else _year(on, number)


def _moved(day: date, days: int) -> str:
    return (day + timedelta(days=days)).isoformat()


def _range(first: date, days: int) -> str:
    return f"{first.isoformat()} to {_moved(first, days)}"


def _month(on: date, shift: int) -> str:
    years, month = divmod(on.month - 1 + shift, 12)
    return on.replace(year=on.year + years, month=month + 1, day=1).isoformat()[:7]


def _year(on: date, shift: int) -> str:
    return on.replace(year=on.year + shift, day=1).isoformat()[:4]


# --- pronouns ---

Gender = Literal["he", "she", "any"]


class _Token(NamedTuple):
    start: int
    end: int
    word: str
    lower: str
    sentence: int
    opens: bool  # the first word of its sentence
    joined: bool  # one blank lies between it and the token before


class _Mention(NamedTuple):
    """A name, from one token to the one before `last`. `gender` is that of a person."""

    first: int
    last: int
    name: str
    gender: Gender | None = None


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_HE = _set(
    """aaron abdul abdullah adam adrian ahmed albert alejandro alexander ali alan allen amir anders andre andreas
    andrew anthony anton antonio arjun arthur ben benjamin bernd bernhard bill björn bob boris brad brandon brian
    bruce bruno carl carlos charles christian christoph christopher chuck claude colin craig damian dan daniel
    darren dave david deepak dennis derek dieter dimitri dirk dmitri don donald doug douglas duncan ed eduardo
    edward emil emmanuel enrique eric erik ethan eugene evan fabian felix fernando florian francesco franz fred
    frederick fritz gabriel gareth gary gavin george gerald giovanni giuseppe gordon graham greg gregory günter guy
    hamza hans harald harry hassan hector heinrich henrik henry hiroshi howard hugo ian ibrahim igor isaac ivan jack
    jacob jake jakob jakub james jan jared jason javier jeff jeffrey jens jeremy jerry jim jimmy joe joel johan
    johannes john johnny jon jonas jonathan jose josé josef joseph josh joshua juan juha jürgen justin karim karl
    keith ken kenji kenneth kevin klaus konrad kurt kyle lars larry lawrence leo leon leonard liam lorenzo louis
    luca lucas luis luke lukas magnus manuel marc marcel marcin marco marcos marcus mario markus martin mateo
    mathias matt matteo matthew matthias maurice mehmet michael michal miguel mike mikhail milan mohamed mohammed
    muhammad nathan neil nicholas nick nicolas nigel niklas nils noah oleg oliver olivier omar oscar otto owen pablo
    patrick paul pavel pedro peter petr phil philip philipp pierre piotr raj rajesh ralf ralph ravi raymond ricardo
    richard rob robert roberto rodrigo roger roland roman ron ronald rupert russell ryan sanjay sebastian sergei
    sergey sergio seth sean simon stefan stephen stephan steve steven stuart sven takeshi ted terence theo theodore
    thomas tim timothy tobias todd tom tomas tomasz tommy tony travis trevor uwe victor viktor vijay vikram vincent
    vladimir walter warren wayne werner wilhelm william wolfgang xavier yusuf yuri zachary dad father grandpa
    grandfather uncle daddy jorge mathieu marek kwame kofi hiro kazuo oskar tariq bilal"""
)
_SHE = _set(
    """abigail ada adele agnes aisha alexandra alice alicia alison amanda amelia amina amy ana anastasia andrea angela
    angelica anita anja ann anna anne annette annika anya astrid audrey aurora barbara beatrice beatriz becky bella
    beth betty birgit bridget brigitte camila camille carla carmen carol carolina caroline catherine cecilia celine
    charlotte chiara chloe christina christine claire clara claudia clémence cynthia daniela daphne deborah debbie
    denise diana diane dora doris dorothy edith eileen elaine eleanor elena eliza elizabeth ella ellen elsa emily
    emma erica erika esther eva evelyn fatima felicia fiona florence frances franziska frida gabriela gabriele gemma
    gina giulia gloria greta gudrun hanna hannah heather heidi heike helen helena helga holly ida ines inga ingrid
    irene irina isabel isabella isabelle ivy jacqueline jana jane janet janice jasmine jeanne jennifer jenny jessica
    jill joan joanna johanna josephine joyce judith judy julia julie juliet karen karin karolina katarina kate
    katharina katherine kathleen kathryn kathy katie katja katrin kristin kristina lara larissa laura lauren layla
    lea leah leila lena leonie leticia lila lilian lily linda lisa liz lois lola lorena louise lucia lucy luisa
    lydia maja magdalena mandy marcia margaret margot maria marie marina marta martha martina mary matilda maya
    megan melanie melissa mia michelle mina miriam miranda molly monica monika nadia nadine nancy naomi natalia
    natalie natasha nicole nina nora olga olivia ophelia paola patricia paula pauline penelope petra phoebe priya
    rachel rebecca regina renate rita roberta rosa rosemary ruth sabine sally samantha sandra sara sarah selma
    shirley silvia simone sofia sonia sonja sophia sophie stella stephanie susan susanne svetlana sylvia tamara
    tanja tanya teresa theresa tina ulrike ursula valentina valerie vanessa vera veronica victoria violet virginia
    vivian wendy yasmin yoko yolanda yvonne zoe mom mum mother grandma grandmother aunt mommy mama aiko keiko meera
    mei nadira saskia ayesha noor leyla deniz anika ingeborg siobhan aoife niamh paulina zara"""
)
_EITHER = _set(
    """alex andy ari ash ashley avery bailey blake cameron casey charlie chris dakota dana dev devon drew eden elliot
    emery finley frankie gabi hayden jamie jay jean jess jesse jo jordan jules kai kelly kim kit kris lee leslie
    lindsay lou mika morgan nicky nico noel nikita pat peyton quinn reese remy riley robin rory rowan sacha sage sam
    sascha sasha shannon sidney skyler spencer stevie sydney taylor terry toby tracy val yuki rené andi toni wei min
    li chen yan jian max jody marion parker logan hunter harper sunny kiran mario jaime"""
)
_ALSO_WORDS: dict[str, Gender] = {
    **dict.fromkeys(
        "april may june grace hope joy rose dawn faith iris ruby jade crystal sue amber penny".split(), "she"
    ),
    **dict.fromkeys("august mark will frank rich art dean grant chase miles ray gene pierce".split(), "he"),
}
_PLACES = _set(
    """africa america amsterdam asia athens austin australia austria bangalore barcelona basel beijing belgium berlin
    boston brazil brussels budapest california canada chicago china cologne copenhagen dallas denmark denver dublin
    edinburgh england europe finland florence frankfurt france geneva georgia germany hamburg helsinki india ireland
    israel italy japan kyoto lisbon london lyon madrid manchester mexico miami milan montreal moscow munich
    netherlands norway osaka oslo paris poland porto portugal prague rome scotland seattle shanghai singapore spain
    stockholm stuttgart sweden sydney switzerland texas tokyo toronto turkey ukraine usa uk eu us vancouver venice
    vienna warsaw washington york zurich"""
)
_TITLES: dict[str, Gender] = {
    "mr": "he", "sir": "he", "herr": "he", "mrs": "she", "ms": "she", "miss": "she", "madam": "she", "frau": "she",
    "dr": "any", "prof": "any", "professor": "any", "doctor": "any",
}  # fmt: skip
_ROLES = _set(
    """accountant admin adviser analyst applicant architect attendee auditor author boss boy buyer candidate cashier
    caller ceo chef child client coach colleague consultant contractor cousin coworker cto customer designer
    developer director doctor driver editor electrician employee engineer expert founder friend girl guest guy hire
    host instructor intern interviewer investor kid lady landlord lawyer lead leader maintainer man manager mentor
    nurse owner partner patient person planner plumber professor programmer recruiter reporter representative
    researcher reviewer roommate scientist secretary seller sister-in-law speaker specialist stakeholder student
    supplier teacher teammate technician tenant tester trainee trainer translator user vendor visitor witness woman
    worker writer neighbour neighbor someone somebody anyone stranger vet dentist assistant operator technologist
    newcomer successor predecessor"""
)
_HE_ROLES = _set("husband brother father son dad uncle grandfather boyfriend nephew man boy guy landlord")
_SHE_ROLES = _set("wife sister mother daughter mum mom aunt grandmother girlfriend niece woman girl lady landlady")
_GROUPS = _set("team group department board committee squad crew guild band family staff council union unit division")
_SAYS = _set(
    """said says asked asks told tells wrote writes thinks thought suggested suggests proposed proposes promised
    promises agreed agrees wants wanted prefers preferred emailed pinged joined joins reviewed reviews approved
    approves mentioned mentions explained explains noticed believes feels felt offered offers refused decided
    replied answered complained worries worried loves likes hates knows knew lives met visited bought sold resigned
    retired volunteered apologised apologized called calls presented presents hopes hoped reckons insisted insists
    argued argues disagreed disagrees objected confirmed reminded recommends recommended warned forgot remembered
    wondered spoke speaks talked"""
)
_DOES = _SAYS | _set(
    """fixed found rewrote moved started took went works worked will finished built deployed made gave sent wrote left
    came got has had is was can opened tested merged added removed changed set created cleaned ran drove paid
    drafted designed"""
)
_ABOUT_PERSON = _set("on out back away sick ill late happy sure leaving going coming our my the a an working worried")
_TO_PERSON = _set(
    """asked told met called emailed pinged thanked hired interviewed invited reminded phoned messaged texted helped
    paired"""
)
_WITH_PERSON = _set("with from to by for and")
_MET_WITH = _set(
    "talked spoke met call meeting lunch thanks chat coffee dinner paired pairing interview review feedback"
)
_TO_PERSON_ONLY = _set("met thanked hired interviewed invited helped")
_ATE_WITH = _set("lunch coffee dinner chat interview paired pairing")
_COMPANIES = _set(
    """acme adobe allianz amazon apple audi basf bayer bmw bosch boeing cisco comcast dell deutsche dhl ebay edeka
    ericsson facebook fedex ford fujitsu google hetzner hitachi honda hp huawei ibm ikea infineon intel lenovo lidl
    logitech lufthansa mastercard mercedes meta microsoft miele mozilla netflix nike nokia nvidia orange ovh panasonic
    paypal pfizer philips porsche qualcomm renault roche ryanair samsung sap shopify siemens sony spotify stadtwerke
    telekom tesla toyota uber unilever ups verizon visa vodafone volkswagen walmart xerox zalando"""
)
_TOOLS = _set(
    """ansible airflow aws azure bash caddy cargo celery chrome circleci claude cloudflare confluence cypress datadog
    debian django docker dropbox elasticsearch eslint excel express fastapi figma firefox flask git github gitlab go
    gradle grafana graphql hadoop helm heroku hugo java javascript jenkins jest jira jupyter kafka keycloak kotlin
    kubernetes linux loki mariadb markdown maven memcached mongodb mypy mysql nagios netlify nginx node notion npm
    numpy obsidian openai oracle outlook pandas playwright podman postgres postgresql postman prometheus pulumi
    pytest python pytorch rabbitmq rails react redis ruff ruby rust salesforce sentry slack spark spring sqlite
    stripe svelte swift tableau tailwind teams temporal terraform traefik trello typescript ubuntu vagrant vault
    vercel vim vite vue webpack windows zoom"""
)
_TOOLS_LIKE_NAMES = _set("ruby jasmine jenkins hugo claude celery")
_FUNCTION = _set(
    """a about after again against all also although always am an and another any are around as at back be because been
    before being both but by can could did do does done down during each either else even ever every few finally
    first for from had has have having here how however if in instead into is it its just last later least less like
    many may maybe me might mine more most much must my never new next no none nor not nothing now of off often on
    once one only onto or other our out over own per perhaps please quite rather really same shall should since so
    some soon still such than thanks that the their then there therefore these they this those though through thus
    till to today together tomorrow tonight too toward two under unless until unlike up upon us very via was we were
    what when where whether which while who whose why will with within without would yes yesterday yet you your i he
    she him her his hers meanwhile otherwise besides three four five six seven eight nine ten note todo ok okay
    update idea reminder warning question decision"""
)
_GENERIC = _set(
    """api pr prs ci cd ui ux db url sql http https json csv ok ai cpu gpu ram ssl tls dns tcp udp ip id faq pdf html
    css xml yaml usb vpn ssh cli sdk mvp kpi roi eta eod asap fyi tbd wip qa hr it cto ceo cfo pm am utc gmt cet est
    pst q1 q2 q3 q4 p0 p1 p2 todo fixme rfc adr sla slo orm crud rest cors jwt oauth llm gdpr phd iso ms kb mb gb tb
    eur usd os"""
)
_CAPITALISED = _set(
    """jan feb mar apr jun jul aug sep sept oct nov dec english german french spanish italian japanese chinese american
    british european dutch polish russian christmas easter i"""
)
_NO_NAMES = _CAPITALISED | frozenset(_DAYS) | frozenset(_MONTHS)
_VERBS = _set(
    """add added ask asked began begin bought bring brought build built buy call change check choose chose clean
    consider debug decide deploy did disable do drop enable export finish fix found gave get give got had have heard
    import install keep kept learn learned look made make meet merge met migrate move need paid pay plan put ran
    read remove rename replace restart restore review rewrite rewrote run saw see sent set ship spent start stop
    switch take talked teach test took tried try turn update upgrade use want went wrote write looking let"""
)
_PREPOSITIONS = _set(
    """in on at after before when since because with for if while as during once until from to by into onto over under
    of about via through without within between behind against near than whenever although though unless like
    despite"""
)
_SUBORDINATE = _set("when since because if while as once until before after whenever although though unless")
_DETERMINERS = _set("the a an this that our my his her its their your another each every one any no some")
_PEOPLE_WORDS = _set("i we you he she they everyone nobody someone everybody who us me")
_ADVERBS = _set(
    """then also so now finally still however and but today yesterday tomorrow meanwhile later again afterwards instead
    yes no well plus luckily sadly fortunately unfortunately initially eventually currently first second next or"""
)
_KINDS = _set(
    "project app application tool library service framework platform database package program repo file module"
)
_COMMON_END = re.compile(r"(?:tion|ment|ness|ance|ence|ship|ings?|ities|ity|tions|ments|ed|ly|ers|ors)\Z")

_FILE = (
    r"(?<![\w/.~-])(?:[\w.~-]{1,60}/){0,8}[\w-]{1,80}(?:\.[\w-]{1,40}){0,3}\.(?:py|pyi|ipynb|js|mjs|ts|tsx|jsx|json|jsonl|"
    r"yaml|yml|toml|ini|cfg|conf|env|md|txt|rst|csv|tsv|sql|sh|bash|ps1|bat|html|css|scss|xml|go|rs|java|kt|c|h|cpp|hpp|cs|"
    r"rb|php|swift|lua|pdf|docx?|xlsx?|pptx?|png|jpg|jpeg|svg|gif|log|lock|db|sqlite|zip|gz|tar|tf|vue|svelte|proto|parquet)"
    r"(?![\w/])"
)
_TOKEN = re.compile(rf"{_CODE}+|{_FILE}|\d{{1,4}}(?:\.\d{{1,4}}){{0,3}}|[^\W_]\w*(?:[-.+]\w+|\+\+)*")
_FILE_NAME = re.compile(_FILE)
_VERSION = re.compile(r"v?\d{1,4}(?:\.[\dx]{1,4}){0,3}\Z")
_SENTENCE_END = re.compile(
    r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bProf)(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)(?<!\b[A-Z])"
    r"[.!?]+[)*_\x1f]*(?=\s|\Z)|\n[ \t]*\n|\n(?=[ \t]*(?:[-*+#>|]|\d{1,3}[.)])[ \t])"
)
_PRONOUNS: dict[str, str] = {
    "he": "he", "him": "he", "his": "he", "she": "she", "her": "she", "hers": "she",
    "it": "it", "its": "it", "they": "they", "them": "they", "their": "they", "theirs": "they",
}  # fmt: skip
_OWNING = _set("his hers its their theirs")


def resolve_pronouns(text: str) -> tuple[Change, ...]:
    """The name for each pronoun that can mean nothing else; none where two could be meant. Never raises."""
    head = text[:MAX_LENGTH]
    if not _ANY_PRONOUN.search(head):
        return ()
    return tuple(_Note(head).changes())


_ANY_PRONOUN = re.compile(rf"\b(?:{'|'.join(_PRONOUNS)})\b", re.IGNORECASE)
_GENDERS: dict[str, Gender] = {
    **dict.fromkeys(_HE, "he"),
    **dict.fromkeys(_SHE, "she"),
    **dict.fromkeys(_EITHER, "any"),
    **_ALSO_WORDS,
}
_AUX = _set("is was are were has had will would can could does did should may might isn't wasn't")
_BARE_TOOLS = _TOOLS - _set(
    "chrome excel express flask go helm notion node outlook react rust slack spring swift teams temporal vault windows "
    "zoom jest oracle sentry stripe trello loki ruff cargo"
)
_DEPARTMENTS = _set(
    "legal marketing sales support finance engineering hr design product security ops operations accounting"
)


_SOMEBODY = _ROLES | _HE_ROLES | _SHE_ROLES
_UNFIT = {"he": _SHE_ROLES, "she": _HE_ROLES}
_NO_RIVALS = _SOMEBODY | _GROUPS
_NO_STRANGER = (
    _TOOLS
    | _COMPANIES
    | _PLACES
    | _NO_NAMES
    | _FUNCTION
    | _DEPARTMENTS
    | _VERBS
    | _ADVERBS
    | _ROLES
    | _GROUPS
    | _PRONOUNS.keys()
)
_NO_THING = (
    _FUNCTION | _GENERIC | _NO_NAMES | _PLACES | _ROLES | _ADVERBS | _DEPARTMENTS
    | _PRONOUNS.keys() | _TITLES.keys() | _GENDERS.keys()
) - _TOOLS  # fmt: skip
_NO_NAMED_THING = _set(
    """access action advice air backup beer bread breakfast budget bug build bus business cache cash change chat check
    cloud code coffee config connection cost data database debt delivery demo deploy design disk dinner draft
    electricity email energy error everything evidence experience failure feedback file fire fix flight food fuel
    fun furniture game garden hardware health heat heating help history home homework house hotel import index info
    input insurance internet issue item job kitchen latency law layout lead learning life light list load log login
    luck luggage lunch mail math memory merge milk money movie music network news noise office order output paper
    parser password patch pay people performance phone post power practice price print process profit progress proof
    rain release rent report research retro rice room rollback rollout root salary sand school script sea search
    server setup shipping sign sleep snow software something sound space sport staff stock storage stuff success
    sugar sync talk task tax tea team test text theory thing ticket time tool traffic trade train travel trouble
    trust truth user video wait waste water weather web wifi wind wine word work world writing anything nothing
    hello hi dear sorry half part most each great good bad nice big small new old"""
)
_TELLS = _set(
    """needs runs works handles supports replaces stores reads writes uses fails failed crashed crashes broke starts
    started stopped keeps takes gives got went came shows sends moved ships shipped lets makes made lost raised
    costs comes goes"""
)
_HUMAN = _SAYS | _set("want prefer agree ask think need will decided say know")
_MANY_PEOPLE = _set("people users customers clients")
_MANY = _set("people children men women folks data")
_SPANS = _set("days weeks months years hours minutes times seconds")
_OPENS_CLAUSE = _set("when because if while although though unless whenever and but so that which")
_HARMLESS = _set("try look go shot chance test week day month year lot bit first last next weekend")
_LETS = _set("let help helped make made watch watched have had see saw hear heard")
_GIVES = _set("gave give gives sent send sends showed shows handed lent offered paid owes bring brought")
_HIDDEN_RUN = re.compile(f"{_HIDDEN}+")
_CAPITAL = re.compile(r"\b[A-Z][a-z]+")
_REACH = 120
"""Words before a pronoun that are looked at."""


class _Note:
    """One note, its words and the names in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.shown = _shown(text)
        self.tokens = self._tokenize()
        self.starts = self._sentence_starts()
        self.inside = {token.word for token in self.tokens if not token.opens}
        people = list(self._find(self._person_at))
        if not people and any(_PRONOUNS.get(token.lower) in ("he", "she") for token in self.tokens):
            people = self._only_possible_person()
        self.taken = {i for mention in people for i in range(mention.first, mention.last)}
        groups = list(self._find(self._group_at))
        self.taken |= {i for mention in groups for i in range(mention.first, mention.last)}
        self.people, self.groups, self.things = _Names(people), _Names(groups), _Names(self._find(self._thing_at))
        self.fitting = {sex: _Names(m for m in people if m.gender in (sex, "any")) for sex in ("he", "she")}
        self.roles = {sex: [i for i in self._roles() if self._lower(i) not in unfit] for sex, unfit in _UNFIT.items()}
        self.quoted = self._quoted_names()
        self.replaced: set[int] = set()
        self.named: dict[str, int] = {}  # the last pronoun of each kind that was replaced

    def changes(self) -> Iterator[Change]:
        for i, token in enumerate(self.tokens):
            kind = _PRONOUNS.get(token.lower)
            if kind is None or not self._is_plain(i):
                continue
            name = self._group_for(i) if kind == "they" else self._thing_for(i) if kind == "it" else self._person_for(i)
            owning = name and self._is_owning(i)
            if name is None or owning is None:
                continue
            self.named[kind] = i
            self.replaced.add(i)
            now = f"{name}{_ending(name)}" if owning else name
            if token.word[0].isupper() and name.startswith("the "):
                now = now[0].upper() + now[1:]
            yield Change(token.word, now, "coreference", token.start)

    # words

    def _tokenize(self) -> list[_Token]:
        ends = [found.end() for found in _SENTENCE_END.finditer(self.shown)]
        tokens: list[_Token] = []
        for found in _TOKEN.finditer(self.shown):
            sentence = bisect_right(ends, found.start())
            opens = not tokens or tokens[-1].sentence != sentence
            joined = bool(tokens) and self.shown[tokens[-1].end : found.start()] in (" ", "\n")
            word = found[0]
            tokens.append(_Token(found.start(), found.end(), word, word.lower(), sentence, opens, joined))
        return tokens

    def _sentence_starts(self) -> list[int]:
        """For every token the first one of its sentence."""
        starts: list[int] = []
        for i, token in enumerate(self.tokens):
            starts.append(i if token.opens else starts[-1])
        return starts

    def _find(self, look: Callable[[int], _Mention | None]) -> Iterator[_Mention]:
        at = 0
        while at < len(self.tokens):
            found = look(at)
            if found:
                yield found
            at = found.last if found else at + 1

    def _lower(self, i: int) -> str:
        """The word at `i`, or "" outside the note."""
        return self.tokens[i].lower if 0 <= i < len(self.tokens) else ""

    def _joined(self, i: int) -> str:
        """The word at `i`, or "" where it does not follow the word before by one blank."""
        return self.tokens[i].lower if 0 < i < len(self.tokens) and self.tokens[i].joined else ""

    def _before(self, i: int) -> str:
        """The word before `i`, or "" where `i` does not follow it by one blank."""
        return self.tokens[i - 1].lower if i > 0 and self.tokens[i].joined else ""

    def _gap(self, i: int) -> str:
        """What stands before the token `i`."""
        return self.shown[self.tokens[i - 1].end if i else 0 : self.tokens[i].start]

    def _after(self, i: int) -> str:
        return self.shown[self.tokens[i].end : self.tokens[i].end + 60]

    def _is_name(self, i: int) -> bool:
        """Whether the word is spelled like a person's name."""
        word = self.tokens[i].word
        return len(word) > 1 and word[0].isupper() and not word.isupper() and word.replace("-", "").isalpha()

    # people

    def _person_at(self, i: int) -> _Mention | None:
        token = self.tokens[i]
        if not self._is_name(i):
            return None
        title = _TITLES.get(token.lower)
        following = i + 1 < len(self.tokens) and self._gap(i + 1) in (" ", ". ") and self._is_name(i + 1)
        if title and following:
            last = self._surname_end(i + 1)
            gender = _GENDERS.get(self._lower(i + 1)) if title == "any" and last > i + 2 else title
            return _Mention(i, last, self._slice(i, last), gender or title)
        gender = _GENDERS.get(token.lower)
        needs_proof = gender is None or token.lower in _ALSO_WORDS or token.lower in _TOOLS_LIKE_NAMES
        if token.lower in _PLACES and self._lower(i - 1) in ("in", "to", "from", "at", "near", "via"):
            return None
        if gender is None and self._is_no_stranger(i):
            return None
        if needs_proof and not self._acts_as_person(i):
            return None
        last = self._surname_end(i)
        return _Mention(i, last, self._slice(i, last), gender or "any")

    def _slice(self, first: int, last: int) -> str:
        return " ".join(self.text[self.tokens[first].start : self.tokens[last - 1].end].split())

    def _surname_end(self, i: int) -> int:
        last = i + 1
        while last < min(i + 3, len(self.tokens)) and self.tokens[last].joined and self._is_name(last):
            lower = self.tokens[last].lower
            if lower in _TOOLS or lower in _NO_NAMES or lower in _FUNCTION or lower in _PRONOUNS or lower in _PLACES:
                break
            last += 1
        return last

    def _is_no_stranger(self, i: int) -> bool:
        lower = self.tokens[i].lower
        if lower in _NO_STRANGER or not self.tokens[i].word[1:].islower():
            return True
        if self._before(i) in _DETERMINERS or self._joined(i + 1) in _GROUPS:
            return True
        return self.tokens[i].opens and (lower.endswith("s") or bool(_COMMON_END.search(lower)))

    def _acts_as_person(self, i: int) -> bool:
        before, after = self._before(i), self._joined(i + 1)
        is_known = self.tokens[i].lower in _GENDERS  # a company too is emailed, or called
        if after in _SAYS or before in (_TO_PERSON if is_known else _TO_PERSON_ONLY):
            return True
        if before in _WITH_PERSON and self._before(i - 1) in (_MET_WITH if is_known else _ATE_WITH):
            return True
        if after in ("is", "was") and self._joined(i + 2) in _ABOUT_PERSON - _DETERMINERS:
            return True
        if self._lower(i + 1) in _DETERMINERS and self._gap(i + 1) in (", ", " ("):
            return any(self._lower(k) in _ROLES for k in range(i + 2, i + 5))
        if self.tokens[i].lower not in _ALSO_WORDS or self.tokens[i].opens:
            return before in _ROLES and is_known
        next_is_name = bool(after) and self._is_name(i + 1) and after not in _NO_NAMES
        return next_is_name or self.shown.startswith(("'s ", "’s "), self.tokens[i].end) or before in ("with", "by")

    def _only_possible_person(self) -> list[_Mention]:
        """The one unknown name that does what people do, where "she" says that there is a person."""
        names: dict[str, list[int]] = {}
        for i, token in enumerate(self.tokens):
            if self._is_name(i) and not self._is_no_stranger(i) and token.lower not in _GENDERS:
                names.setdefault(token.word, []).append(i)
        if len(names) != 1:
            return []
        (places,) = names.values()
        if not any(self.tokens[i].opens and self._joined(i + 1) in _DOES for i in places):
            return []
        return [_Mention(i, i + 1, self.tokens[i].word, "any") for i in places]

    def _roles(self) -> list[int]:
        return [i for i, token in enumerate(self.tokens) if token.lower in _SOMEBODY and self._is_role(i)]

    def _is_role(self, i: int) -> bool:
        """Whether a person without a name is spoken of, who is not the named one."""
        if i in self.taken:
            return False
        if i + 1 in self.taken and self.tokens[i + 1].joined:
            return False  # our designer Anna
        after = self._joined(i + 1)
        if (
            after
            and after not in _FUNCTION
            and after not in _AUX
            and not after.endswith(("s", "ed"))
            and after not in _DOES
        ):
            return False  # customer data
        first = i
        while first and self.tokens[first].joined and first > i - 4 and self._lower(first) not in _DETERMINERS:
            first -= 1
        before = self._lower(first - 1)
        named_before = first - 1 in self.taken and self._gap(first).strip() in (",", "(")
        return not (before in ("is", "was", "as", "became", "be", "named", "being", "am", "are") or named_before)

    def _quoted_names(self) -> dict[str, int]:
        """Where the first name is quoted or linked that fits each pronoun."""
        first: dict[str, int] = {}
        for quoted in _HIDDEN_RUN.finditer(self.shown):
            for word in _CAPITAL.finditer(self.text, *quoted.span()):
                gender = _GENDERS.get(word[0].lower())
                if gender and word[0].lower() not in _ALSO_WORDS:
                    for fits in ("he", "she") if gender == "any" else (gender,):
                        first.setdefault(fits, quoted.start())
        return first

    def _person_for(self, i: int) -> str | None:
        gender, token = _PRONOUNS[self._lower(i)], self.tokens[i]
        fitting = self.fitting[gender]
        name = fitting.before(i)
        if name is None or self.quoted.get(gender, token.start) < token.start:
            return None
        role = bisect_left(self.roles[gender], i) - 1
        if role >= 0 and self.tokens[self.roles[gender][role]].sentence >= token.sentence - 1:
            return None
        if self._lower(self.starts[i]) in _SUBORDINATE or self._lower(self.starts[i]) in ("in", "on"):
            later = fitting.mentions[fitting.count(i) : fitting.count(i) + 1]
            if later and self.tokens[later[0].first].sentence == token.sentence and not _same(name, later[0].name):
                return None
        return name if self._may_name(i, fitting) else None

    # groups

    def _group_at(self, i: int) -> _Mention | None:
        if self._lower(i) != "the" or i + 1 >= len(self.tokens):
            return None
        last = i + 1
        while last < min(i + 4, len(self.tokens)) and self.tokens[last].joined and self._is_capital(last):
            last += 1
        if last == i + 1:
            return None
        if self._joined(last) in _GROUPS:
            return _Mention(i, last + 1, "the" + self._slice(i, last + 1)[3:])
        word, after = self.tokens[last - 1], self._joined(last)
        plural = word.lower.endswith("s") and not word.lower.endswith(("ss", "us")) and word.lower not in _TOOLS
        if last != i + 2 or not plural or not self._is_name(i + 1) or word.lower in _NO_NAMES:
            return None
        if after and after not in _FUNCTION and after not in _DOES and not after.endswith("ed"):
            return None  # the Beatles album
        return _Mention(i, last, "the" + self._slice(i, last)[3:])

    def _is_capital(self, i: int) -> bool:
        return self.tokens[i].word[0].isupper()

    def _group_for(self, i: int) -> str | None:
        name, count = self.groups.before(i), self.people.count(i)
        if name is None or (count and self.people.before(i) is None) or not self._may_name(i, self.groups):
            return None
        start = self._earlier(i)
        if start is None:
            return None
        is_human = self._joined(i + 1) in _HUMAN
        held = {k for m in self.groups.mentions[: self.groups.count(i)] for k in range(m.first, m.last)}
        rivals = [self._lower(k) for k in range(start, i) if k not in held and self._is_plural(k)]
        return None if any(not is_human or word in _MANY_PEOPLE for word in rivals) else name

    def _earlier(self, i: int) -> int | None:
        """Where the sentence before that of the token `i` starts; None where both are too long to be judged."""
        start = self.starts[i]
        start = self.starts[start - 1] if start else 0
        return start if i - start <= _REACH else None

    def _is_plural(self, i: int) -> bool:
        """Whether the word is, as far as form tells, several things or people."""
        token = self.tokens[i]
        if token.lower in _MANY:
            return True
        if not token.lower.endswith("s") or token.lower.endswith(("ss", "us", "is")) or token.lower in _FUNCTION:
            return False
        if token.lower in _SPANS or token.lower in _SAYS:
            return False
        if self._is_capital(i) and not token.opens:
            return False
        before = self._before(i)
        return token.opens or before in _PLURAL_BEFORE or before.isdigit() or self._lower(i - 2) in _PLURAL_BEFORE

    # things

    def _thing_at(self, i: int) -> _Mention | None:
        """A named thing; its name is "" where what is named is something else: "the Kestrel dashboard"."""
        token = self.tokens[i]
        if i in self.taken:
            return None
        if token.word[0] == _CODE:
            name = self.text[token.start : token.end]
            return _Mention(i, i + 1, name if re.fullmatch(r"`+[\w./:@+-]+(?:\(\))?`+", name) else "")
        if _FILE_NAME.fullmatch(token.word):
            return _Mention(i, i + 1, token.word)
        if not self._names_thing(i):
            return None
        last = i + 1
        while last < min(i + 4, len(self.tokens)) and self._continues_name(last):
            last += 1
        return _Mention(i, last, "" if self._is_compound(i, last) else self._slice(i, last))

    def _names_thing(self, i: int) -> bool:
        token = self.tokens[i]
        if token.lower in _BARE_TOOLS:
            return True
        if not self._is_capital(i) or len(token.word) < 2:
            return False
        if token.lower in _NO_THING:
            return False
        if not token.opens or token.lower in _TOOLS or not (token.word[1:].islower() and token.word.isalpha()):
            return True
        if token.lower in _VERBS or _COMMON_END.search(token.lower):
            return False
        told = self._joined(i + 2) in _AUX or self._joined(i + 2) in _TELLS
        if told and self._joined(i + 1) not in _TOOLS and self._continues_name(i + 1):
            return True  # Home Assistant crashed
        if token.lower in _NO_NAMED_THING:
            return False
        if token.word in self.inside:
            return True
        if i + 1 >= len(self.tokens) or not self.tokens[i + 1].joined:
            return False
        after = self.tokens[i + 1]
        if _VERSION.match(after.word) or (token.lower == "project" and after.word[0].isupper()):
            return True
        # A single thing without an article, of which something is told, is called so: "Atlas is late".
        is_one = not token.lower.endswith("s") or after.lower in ("is", "was") or after.lower.endswith("s")
        return is_one and (after.lower in _AUX or after.lower in _TELLS)

    def _continues_name(self, i: int) -> bool:
        token = self.tokens[i]
        if not token.joined or i in self.taken:
            return False
        if _VERSION.match(token.word):
            return True
        return self._is_capital(i) and token.lower not in _FUNCTION and token.lower not in _NO_NAMES

    def _is_compound(self, first: int, last: int) -> bool:
        after = self._joined(last)
        if not after or after in _FUNCTION or after in _KINDS or not self.tokens[last].word.isalpha() or after in _DOES:
            return False
        if after.endswith("ed") or self._is_capital(last) or after in _PRONOUNS:
            return False
        determined = self._before(first) in _DETERMINERS
        return determined or self._joined(last + 1) in _AUX

    def _thing_for(self, i: int) -> str | None:
        name = self.things.before(i)
        if name is None or self._is_dummy(i) or not self._may_name(i, self.things):
            return None
        token, start, earlier = self.tokens[i], self.starts[i], self._earlier(i)
        if earlier is None or _HIDDEN in self.shown[self.tokens[earlier].start : token.start]:
            return None
        if max(self.things.last(i).last - 1, self.named.get("it", 0)) < earlier:
            return None
        places = set(self.things.starts[: self.things.count(i)])
        if self._has_rival(start, i, places, own=True):
            return None
        return None if start and self._has_rival(earlier, start, places, own=False) else name

    def _is_dummy(self, i: int) -> bool:
        token = self.tokens[i]
        if token.lower == "its":
            return False
        before = self.shown[max(0, token.start - 30) : token.start].lower()
        return bool(_DUMMY.match(self.shown[token.end : token.end + 100]) or _DUMMY_BEFORE.search(before))

    def _has_rival(self, first: int, end: int, places: set[int], *, own: bool) -> bool:
        """Whether "it" may as well mean what the sentence `first:end` speaks of. `places`: where the thing is named."""
        subject = self._subject(first, end)
        if subject is None:
            return not own
        if self._is_rival_subject(subject, end, places):
            return True
        is_subject = subject in places or subject + 1 in places or self._lower(subject) in ("it", "its")
        for k in range(subject + 1, end):
            if self._lower(k) not in ("the", "a", "an", "our", "my", "this", "another") or k + 1 >= end:
                continue
            before = self._lower(k - 1)
            opens_clause = before in _OPENS_CLAUSE
            if (opens_clause or (not is_subject and before not in _PREPOSITIONS)) and not self._is_harmless(
                k, end, places
            ):
                return True
        return False

    def _is_harmless(self, k: int, end: int, places: set[int]) -> bool:
        if k + 1 in places:
            return True
        words = [self._lower(j) for j in range(k + 1, min(k + 4, end))]
        return words[0] in _HARMLESS or any(word in _NO_RIVALS for word in words[:2])

    def _subject(self, first: int, end: int) -> int | None:
        """Where the subject of the main clause starts, skipping "After the upgrade,"."""
        i = first
        while i < end and (self._lower(i) in _ADVERBS or self.tokens[i].word[0].isdigit()):
            i += 1
        if i < end and self._lower(i) in _PREPOSITIONS:
            i = next((k for k in range(i + 1, end) if "," in self._gap(k)), end)
            while i < end and self._lower(i) in _ADVERBS:
                i += 1
        return i if i < end else None

    def _is_rival_subject(self, i: int, end: int, places: set[int]) -> bool:
        lower = self._lower(i)
        owned = self.shown.startswith(("'s ", "’s "), self.tokens[i].end)
        if lower in ("it", "its"):
            return i not in self.replaced or lower == "its"
        if lower in _PEOPLE_WORDS or i in places:
            return bool(owned and i in places)
        if i in self.taken:
            return owned
        if lower in _DETERMINERS:
            words = [self._lower(k) for k in range(i + 1, min(i + 4, end))]
            is_thing = i + 1 in places or (i + 2 in places and self.tokens[i + 2].joined)  # the script `x`
            return not (is_thing or i + 1 in self.taken or any(word in _NO_RIVALS for word in words))
        if lower.endswith("ing"):
            return self._lower(i + 1) in ("is", "was", "of")
        return not (lower in _VERBS or lower.endswith("ed"))

    # pronouns

    def _is_plain(self, i: int) -> bool:
        """Whether the pronoun is no part of something else: "he/she", "he or she", "IT", "it-self"."""
        token = self.tokens[i]
        if token.word[1:] != token.word[1:].lower() or i in self.taken:
            return False
        around = self.shown[max(0, token.start - 1) : token.start] + self.shown[token.end : token.end + 1]
        if any(sign in "/\\_-@#=+$" for sign in around):
            return False
        for step in (-1, 1):
            other = self._lower(i + 2 * step)
            if self._lower(i + step) == "or" and other in _PRONOUNS:
                return False
        return not (token.word[0].isupper() and not token.opens and token.joined and self._is_capital(i - 1))

    def _may_name(self, i: int, mentions: _Names) -> bool:
        """Whether grammar lets the pronoun mean what was named: in "Anna met her", "her" is not Anna."""
        lower = self._lower(i)
        is_object = lower in ("him", "them") or (lower == "her" and not self._is_owning(i))
        if lower == "it":
            after = self._joined(i + 1)
            is_object = (
                after not in _AUX and not after.endswith(("s", "ed")) and not self._after(i).startswith(("'", "’"))
            )
        if not is_object:
            return True
        nearest = max(mentions.last(i).last, self.named.get(_PRONOUNS[lower], -1) + 1)
        if self.tokens[nearest - 1].sentence != self.tokens[i].sentence:
            return True
        return any(
            self._lower(k) in _CLAUSE_WORDS
            or any(sign in self._gap(k) for sign in ",;:—–(")
            or (self._lower(k) == "to" and k + 1 < i)
            for k in range(nearest, i)
        )

    def _is_owning(self, i: int) -> bool | None:
        """Whether the pronoun reads "Anna's" rather than "Anna"; None where "her" could be either."""
        lower = self._lower(i)
        if lower != "her":
            return lower in _OWNING
        after, before = self._joined(i + 1), self._lower(i - 1)
        if not after or after in _AFTER_OBJECT or after.isdigit():
            return False
        if before in _LETS:
            return None if before in ("had", "have", "saw", "see", "made", "make") else False
        if before in _GIVES:
            return True if after in _KINSHIP else None
        if after.endswith("ly"):
            return None
        return True


def _ending(name: str) -> str:
    return "'" if name.startswith("the ") and name.endswith("s") else "'s"


class _Names:
    """The mentions of one kind, in order, and the only name among those before a place."""

    def __init__(self, mentions: Iterable[_Mention]) -> None:
        self.mentions = list(mentions)
        self.starts = [mention.first for mention in self.mentions]
        self.only: list[str] = []
        """The name among the first 1, 2, ... mentions, as far as there is only one, in its fullest form."""
        for mention in self.mentions:
            name = _same(self.only[-1], mention.name) if self.only else mention.name
            if not name:
                break
            self.only.append(name)

    def count(self, i: int) -> int:
        return bisect_left(self.starts, i)

    def before(self, i: int) -> str | None:
        """The one name before the token `i`; None where there is none, or more."""
        count = self.count(i)
        return self.only[count - 1] if 0 < count <= len(self.only) else None

    def last(self, i: int) -> _Mention:
        return self.mentions[self.count(i) - 1]


def _same(one: str, other: str) -> str:
    """The fuller of two names of the same: "Anna" and "Anna Berg", "Kestrel" and "Kestrel 2"; "" for two names."""
    short, long = sorted((one, other), key=len)
    return long if short and _is_part(short.split(), long.split()) else ""


def _is_part(short: list[str], long: list[str]) -> bool:
    size = len(short)
    return size <= len(long) and (long[:size] == short or long[-size:] == short)


_PLURAL_BEFORE = _set(
    """the these those our my all some many few two three four five six several most both old new other more their his
    her a and of with for from no any"""
)
_CLAUSE_WORDS = _set(
    """and but or because when that who which if so while after before since as than said says thinks thought asked
    told where until though although whether how why what hopes believes knows agreed"""
)
_AFTER_OBJECT = (_FUNCTION | _PREPOSITIONS) - _set("own same last first next new") | _set(
    "again yesterday today tomorrow later soon too here there"
)
_KINSHIP = _set("manager boss team mother father brother sister husband wife friend colleague")
_DUMMY = re.compile(
    r"""(?:['’]s|['’]ll|['’]d|\s+(?:is|was|will|would|may|might|can|could|should|did|does|has|had|must|be|been|being|just|also|
    often|usually|only|still|really|then|always|never|now|all|probably|already|not|n['’]t|isn['’]t|wasn['’]t|doesn['’]t|
    didn['’]t|won['’]t)\b){0,4}\s+(?:
      (?:rain|snow|pour|thunder|hail|drizzl|freez)(?:s|ed|ing|e|es|y)?\b
    | (?:seem|appear|happen|matter|depend|occur|turn|remain|follow|bother|surpris|dawn|hurt|annoy|worr)
        (?:s|es|ed|red|e|y|ies|ied)?\b
    | (?:takes?|took|taken|taking|(?:looks?|looked|sounds?|feels?|felt)\s+(?:like|as)|means?|meant|pays?|
        helps?|helped|hit|struck)\b
    | (?:makes?|made)\s+(?:sense|no|more|me|us|everyone|a\s+difference)\b
    | (?:goes|went|comes|came)\s+(?:without|down|to|as)\b
    | (?:gets|got|getting|become|becomes|became|grew)\s+(?:late|dark|cold|hot|warm|light)\b
    | (?:(?:so|too|very|quite|pretty|rather|much|more|most|getting|about|almost|nearly|really|only|already|
        still|not)\s+){0,3}(?:
        (?:late|early|dark|cold|hot|warm|sunny|windy|cloudy|foggy|rainy|humid|noon|midnight|lunchtime|time|winter|summer|spring|
        autumn|monday|tuesday|wednesday|thursday|friday|saturday|sunday|weekend|worth|me|us|him|them|my|your|our|his|her|their|
        up\s+to|because|when|then|why|what|how|where|after|before|since|as|about\s+time|who)\b
      | \d | (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b
      | (?:clear|unclear|obvious|known|unknown|likely|unlikely|true|said|thought|believed|agreed|decided|
        expected|hoped|assumed)\b
      | (?:[\w-]+\s+){1,2}(?:that|to|whether|if|for\s+\w+\s+to)\b
        (?<!able\sto)(?<!used\sto)(?<!ready\sto)(?<!going\sto)(?<!set\sto)
      | (?:a|an|the)\s+(?:[\w-]+\s+){0,3}(?:day|days|week|morning|night|evening|afternoon|month|year|meeting|call|shame|
        pity|relief|pleasure|idea|mistake|decision|surprise|weekend|fault|turn|case|first|last|time|trip|drive)\b
      | the\s+(?!\w+est\b)\w | (?:[A-Z]\w+|an?\s+\w+)\s+(?:who|that|which)\b
      )
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_DUMMY_BEFORE = re.compile(
    r"\b(?:call|called|make|made|take|believe|that['’]s|this\s+is|that\s+is|that\s+was|worth|as|find|found|think|thought|"
    r"finds|considers?|considered|keep|when)\s+\Z"
)
