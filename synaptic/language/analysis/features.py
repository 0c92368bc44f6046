"""What the words of a question show: named features, each one pattern. Data only; `decide.py` draws the conclusions.

Patterns see the question on one line in lower case, without the words that only ask to be told; those of `WRITTEN`
see it as it was written.
"""

from __future__ import annotations

from ..lexicon import DAY_NAMES, MONTH_NAMES, TOOLS
from .name_words import EVENTS

# --- pieces of patterns ---

ADJECTIVE = (  # those whose -er is no noun: "slower", not "server"
    r"(?:fast|slow|quick|cheap|pric(?:i|e)|small|bigg|larg|old|young|new|long|short|high|low|tall|great|strong|weak"
    r"|hard"
    r"|simpl|easi|saf|clean|clos|near|furth|light|heavi|bright|dark|warm|hott|cold|cool|wid|deep|rich|poor|nic|happi"
    r"|healthi|busi|quiet|loud|soft|smooth|tight|fresh|thick|thinn|dens|lean|strict|noisi|stabl|tini|earli|soon)er"
)
COMPARED = rf"(?:better|worse|fewer|less|(?:more|rather)(?! recent)|prefer\w*|{ADJECTIVE})"
ROLE = (
    r"(?:sister|brother|wife|husband|partner|boss|manager|author|owner|founder|ceo|cto|maintainer|friend|son|daughter"
    r"|mother|father|mum|mom|dad|uncle|aunt|cousin|parents|neighbou?r|colleague|roommate|teacher|coach|creator|lead"
    r"|head|supplier|vendor|landlord|successor)"
)
PRONOUN = r"(?:we|i|you|he|she|they)"
_DID = (
    r"(?:[a-z]+ed|met|made|wrote|built|chose|bought|sold|got|had|saw|read|gave|found|took|left|ran|sent|won|taught|paid"
    r"|led|began|lent|set|[a-z]+s)"
)
_NOUN = (
    r"(?!(?:when|if|how|why|as|and|or|to|of|time|way|reason|fact|idea|chance|day|moment|only|same|after|before"
    r"|since|until|while|because"
    r"|in|on|at|for|from|with|by|about|is|was|are|were|be|been|do|does|did|has|have|had|can|could|will|would|should"
    r"|must|might"
    r"|concept|rationale|thinking|reasoning|motivation|logic|principle)\b)[\w-]+ "
)
_THE = rf"\b(?:the|an?) (?:{_NOUN}){{1,2}}"
_PARTICIPLE = r"(?:[a-z]+ed|built|made|written|sent|sold|bought|held|kept|found|chosen|given|taken|lost)"
_ANY = rf"\b(?:the|an?|that|our|my|any|someone|somebody|one) (?:{_NOUN}){{0,3}}"
_UNIT = r"(?:minute|hour|day|night|week|month|quarter|year)s?"
_MOMENT = "|".join(
    (*(name for name in MONTH_NAMES if name != "may"), *DAY_NAMES, *sorted(EVENTS), r"weekends?|mornings?|evenings?")
)
_NO_PLURAL = "|".join(sorted(name for name in TOOLS if name.endswith("s")))
_PLURAL = rf"(?!(?:{_NO_PLURAL}|does|was|has)\b)(?:[\w-]*[^suis\W]s|people|children|women|men)"
_PROPERTY = (
    r"(?:version|port|colou?r|size|limit|number|price|costs?|rate|address|password|key|url|date|time|day|month|year"
    r"|language|licen[cs]e|breed|kind|type|sort|value|level|format|length|width|height|age|weight|role|job|status|title"
    r"|city|country|town|street|timeout|threshold|interval|temperature|percentage|brand|model|instrument|name)"
)
_DEGREE = (
    r"(?:many|much|often|long|old|big|large|small|fast|slow|far|near|close|tall|high|low|expensive|cheap|deep|heavy"
    r"|wide|thick|hot|warm|cold|strong|loud|reliable|likely|good|bad|busy|recent(?:ly)?|soon)\b"
)
_ASKING_WORD = (
    r"(?:who|whom|what|which|where|when|why|how|is|are|was|were|do|does|did|has|have|had|can|could|should|would|will)"
)

# --- features ---

FEATURES = {
    # the order of events
    "came_first": r"\b(?:came|come|comes|happen|happens|got|went|starts?|done|\w+ed) first\b",
    "before_or_after": r"\bbefore or after\b",
    "earlier_or": r"\b(?:earlier|sooner|later)\b.{0,60}\bor\b",
    "was_it_when": r"^was it .{2,60} or .{2,60} when\b",
    "asks_order": r"\b(?:(?:what |which |in |the |^)order(?! of magnitude)(?= of| in| we| did| were|$|\?)"
    r"|in order\b(?! (?:to|that))|timeline|chronolog\w+|(?:sequence|course) of (?:events|steps)|(?<!commit )"
    r"(?<!search )history of)",
    "time_between": rf"\b(?:how (?:long|much time|many {_UNIT})|time|{_UNIT}) (?:\w+ ){{0,3}}between\b",
    # a moment, a duration
    "asks_when": r"^(?:(?:since|until|till|by|from|up to) )?when\b|[,–-] when\b"
    r"|\b(?:me|know|remember|recall|out|check) (?:\w+ )?when\b",
    "how_long": rf"\bhow (?:long|recent(?:ly)?|soon|much time)\b|\bhow many {_UNIT}"
    rf"|\b(?:what|which) (?:time|date|day|{_UNIT})\b",
    "time_of": r"\b(?:(?:first|last|next|by the) time|(?:dates?|day|duration|anniversary) (?:of|for))\b",
    "date_named": r"\b(?:(?:start|end|due|release|launch|expiry|renewal|delivery|birth) ?dates?|deadlines?|overdue"
    r"|timetable"
    r"|due(?! (?:to|diligence)\b)|expir(?:es?|ed|y|ation))\b",
    "last_or_next": r"^(?:what (?:is|was) )?(?:the |our |my )?(?:last|next|previous|upcoming|first(?= (?:mention"
    r"|entry|note|occurrence))) (?!names?\b|one\b)[a-z]",
    "how_often": r"\bhow often (?:do|does|is|are|should|must|can)\b",
    "newest": r"\b(?:latest|newest|most recent(?:ly)?|earliest|oldest)\b",
    "what_changed": r"^what (?:(?:is|has|have) )?(?:new|changed|happened)\b",
    "did_before": rf"^what (?:came|(?:did|had|has|have|(?:was|were) (?:{PRONOUN}|{_PARTICIPLE}))\b.{{1,80}})"
    rf" (?:before|after) (?:{PRONOUN}|the|our|my|\w+ing)\b",
    "was_before": r"^(?:did|was|were|is|has) .{3,80}\b(?:before|after) [\w' -]{1,40}\?*$",
    "opens_with_when": rf"^(?:(?:since|until|by) )?when\b|\b(?:what|which) (?:time|date|{_UNIT})\b",
    "what_did": rf"^what (?:did|have|has|had|went|got|(?:was|were) (?:{PRONOUN}|{_PARTICIPLE}|said|done|\w+ing))\b"
    r"|^(?:anything|something|things|stuff)(?: \w+)? (?:\w+ed|done|new)\b",
    "in_time": rf"\b(?:in|on|during|over|at|by|since|until|before|after|around|between|and|mid|early|late)[ -]"
    rf"(?:(?:the|our|my|that) )?(?:[\w-]+ )?(?:{_UNIT}|{_MOMENT})\b",
    # two sides
    "comparing_word": r"\b(?:compar(?:e[ds]?|ing|isons?)|versus|vs|contrast(?:s|ed)?|differ(?:s|ed|ences?|ently)?"
    r"|similarit(?:y|ies)|pros and cons|before and after|(?:dis)?advantages|in common|alike|similar to)\b"
    r"|\bsets? .{1,60} apart\b|\bdistinguish(?:es|ed)?\b|\b(?:stack|measure)s? up\b|\b(?:trade-?offs?|choice|gap"
    r"|contrast) between\b",
    "more_than": rf"\b{COMPARED}\b.{{0,80}}\b(?:than|or)\b|\bor\b.{{0,80}}\b{COMPARED}\b"
    r"|\b(?!other|rather|later|earlier|number)\w{3,}er than\b",
    "as_much_as": r"\bas \w+ as\b|\bas (?:opposed to|against)\b",
    "how_different": r"\b(?:how|what|same)\b.{0,40} different\b",
    "same_or": r"\bsame\b.{1,60}\bor\b",
    "which_is_more": rf"^(?:which|who|what)\b(?! of (?:the|our|my) \w+ that).{{1,60}}\b(?:better|worse|fewer"
    rf"|{ADJECTIVE})\b"
    r"|^(?:which|who)\b.{1,60}\b(?:more|less)\b",
    "either": rf"^(?!{_ASKING_WORD}\b)(?:[\w.+-]+ ){{1,3}}or (?:[\w.+-]+ ){{0,2}}[\w.+-]+(?:\?| for\b| as\b)",
    "which_of_two": r"\bwhich (?:one )?of the (?:two|three)\b|^[\w -]{1,60} or [^?]{1,60}\bwhich\b",
    "should_or": r"^(?:should|would) .{1,80}\bor\b",
    # reasons and ways
    "opens_with_why": r"^why\b",
    "asks_why": r"\b(?:why (?:did|do|does|is|are|was|were|we|the|on)|explain|how come)\b",
    "reason_for": r"\b(?:reason(?:s|ing)?|rationale|idea|thinking|motivations?|logic|argument)"
    r" (?:for|behind|why|when|was|that|to|the|we)\b",
    "what_made": r"\bwhat (?:\w+ )?"
    r"(?:motivated|makes?|made|causes?|caused|leads?|led|drives?|drove|inspired|prompted)\b",
    "what_role": r"\bwhat (?:happens (?:if|when)|role|problem|purpose|effect|explains|(?:is|was) the point)\b",
    "understanding": r"\b(?:in what way|on what grounds|meant by|so special|understand(?:ing)?|lessons?"
    r"|walk me through)\b",
    "how_it_works": r"\bhow .{1,80} works?\b|\bwhat does .{1,60} mean\b",
    "how_to": rf"\bhow (?!{_DEGREE})[a-z]+",
    "what_is_a": r"^what (?:is|are) an? ",
    "concept_of": r"\b(?:purpose|benefit|concept|meaning|architecture|philosophy|explanation|idea|principle|point"
    r"|goal|significance)"
    r" (?:of|behind)\b",
    # many
    "most_common": r"\bmost (?:common|frequent|often|popular|used)\b",
    "how_many": rf"\bhow many (?!{_UNIT})|\bhow often (?!(?:do|does|is|are|should|must|can)\b)",
    "summary": r"\b(?:summar\w+|sum up|overview|round-?up|recap|total|average|who all|in what ways)\b",
    "number_of": r"(?<!phone )(?<!max )(?<!maximum )(?<!minimum )\bnumber of (?!the|our|my)|\ba list\b|\btop (?:\d+"
    r"|two|three|four|five|six|ten)\b|\bmost\?*$",
    "list_them": r"^(?:list|enumerate|count|collect|gather|name (?!of))\b",
    "all_of": rf"(?<!at )(?<!after )\ball (?:of )?(?:the|our|my|open|those|(?:[\w-]+ ){{0,2}}{_PLURAL})\b",
    "every": r"\b(?:every(?:thing|one|body)?|each) (?!other)",
    "what_kinds": r"\bwhat (?:kinds|types|sorts|things|other)\b|\bwhich ones\b|^which of (?:our|the|my|these)\b",
    "which_things": rf"^(?:what|which) (?:[a-z]+ )?{_PLURAL} "
    r"(?:do|did|does|are|were|have|has|had|can|should|still|need)\b"
    rf"|^which {_PLURAL} [a-z]+"
    rf"|^what {_PLURAL} (?!(?:the|an?|our|my|us|it|this|that|to|in|on|of|if|with)\b)[a-z]+",
    "what_else": r"^(?:what|who|where) else\b",
    "what_are": r"^(?:what|which) (?:are|were)\b|^(?:who|where) (?:are|were|have|has)\b|^what (?:have|has) [\w'-]+ \w",
    # one fact that leads to another
    "itself": rf"^(?:(?:what|who|which) (?:is|was|are|were) |(?:the )?names? of )?(?:the|that|an?|our|my)"
    rf" (?:names? of the )?(?:{_NOUN}){{1,3}}(?:(?:in|at|from|on) (?:[\w-]+ ){{1,2}})?"
    rf"(?:that|who|which|where|{PRONOUN}|{_PARTICIPLE})\b"
    r"|^(?:which|what) (?:[\w-]+ ){1,2}(?:that|who|which)\b",
    "described": rf"{_ANY}"
    r"(?:(?:that|who|which|whose|where)\b|(?:containing|holding|behind|\w+ed by|made by|written by) \w)"
    r"|\bwhose\b|^(?:who|what|which) (?:[\w-]+ )?(?:did|do|does|has|had|have) .{3,80} (?:that|who) (?:\w+ed|is|was"
    r"|has)\b",
    "owner_of_owner": r"\w's [\w-]+'s\b",
    "of_the_of": r"\bof (?:the|our|my|a) (?:[\w-]+ ){1,3}of\b",
    "thing_we_use": rf"{_THE}(?:where )?{PRONOUN} \w+.{{0,60}} (?:is|was|did|does|has|use[sd]?|run|live|work)\b"
    rf"|^(?:who|where|what|which|is|does|did) .{{1,60}}{_THE}(?:where )?{PRONOUN} [a-z]+",
    "thing_they_did": rf"{_THE}(?:our|my|his|her|their|the) (?:{_NOUN}){{1,2}}{_DID}\b",
    "doing_the": rf"^(?!is|was|are|were)[^?]{{2,60}}{_THE}(?!during|regarding|concerning|including|following)"
    r"[a-z]+ing (?:the|our|my|an?)\b",
    "thing_done": r"(?:^|\b(?!(?:when|after|before|that|why|if|since|while|until|because|is|are|was|were|did|has"
    r"|have)\b)"
    rf"[\w-]+ ){_THE}{_PARTICIPLE} (?:in|by|for|with|from|during|at|on|to|because|after|before)\b",
    "person_who_did": r"\b(?:the|a) (?:person|man|woman|guy|people|colleague|engineer|company|team|one) [a-z]+ed\b"
    r"|\b(?:person|people|colleague|team) (?:responsible for|in charge of)\b",
    "relative_of": rf"(?:\w's {ROLE}|\bthe {ROLE} of .{{2,40}}) (?!in |at |on |for )[a-z]+",
    "of_relative": rf"\bof (?:\w+'s|the|my|our) {ROLE}\b(?! of the\b)",
    "in_that": r"\w(?: is| was)? in that (?:\w+ed|we|i|you|he|she|they)\b",
    "two_questions": r"(?:^|, )(?:who|where|what|which) .{3,80}[\w,] and (?:what|who|where|when|which|how)\b",
    "trace": r"^(?:trace|follow) \w|\bchain of\b",
    # clauses
    "second_clause": r"[,;] (?:and|but|then)\b|\band (?:what|why|how|who|when|where|which|did|does|is)\b"
    r"|\b(?:(?:group|sort)ed by|(?:by|per|for each) (?:month|week|year|person|project|quarter)|but not|(?:and"
    r"|then) (?:say|tell|explain))\b",
    "condition": r"\b(?:if|unless|when|while|before|after|since|until|without|except|despite|because|during"
    r"|by the time)\b",
    "restriction": r" (?:that|who|which|whose)\b",
    "one_clause": rf"^(?:how many|what are|who are)\b(?!.*\b(?:that|who|which|where|by|to|from)\b)"
    rf"|^(?!.*\b(?:{PRONOUN}|{_ASKING_WORD}|{_UNIT}|about)\b)",
    "three_things": r"\w, [\w ]{2,30} and \w",
    "from_to": r"\bfrom (?:the|our|my) .{3,60} to (?:the|our|my)\b",
    "long": r"^(?:\S+ ){12}",
    "same_near_or": r"\bsame\b.{0,40}\bor\b",
    "orders": r"(?<!the )\bfirst\b(?! time)|\b(?:or|between|order)\b",
    "asked_within": r"\b(?:what|who|where|when|which|how)\b.{0,20}\b(?:is|does|did|leads|was|has)\b",
    "asks": rf"\?|^{_ASKING_WORD}\b",
    # what is sought
    "binds": r"\b((?:relat\w+|connect\w+|link\w*|tied|married|similar|belongs?|attached|reports?) to"
    r"|(?:depend\w*|based|rel(?:y|ies)) on|depends?|related|relationship|connections? (?:between|to|with)"
    r"|to do with|compatible|in common|part of"
    r"|(?:work|talk|speak|collaborat|interact|integrat|communicat|compet|conflict)\w* (?:together|with)"
    r"|each other|together|(?:the )?same (?:one|person|thing|as)|(?:in|on|at|from) the same)\b"
    r"|^(?:does|do|did|can|is|will) .{1,80}\b(support|use|need|require|import|block|affect|replace|call|break)s?\b"
    r" (?:the|our|my|\w+$|\w+\?)",
    "measured": rf"\b(?:{ADJECTIVE}|rates?|latency|size|price|costs?|speed|duration|score|weight|more \w+ than)\b"
    r"|^(?!compare\b).*\b(?:more|fewer|less|most) (?!like)[a-z]+",
    "leads_to": r"(?<!that )\bled to\b|\bcaus(?:e|es|ed|ing)\b(?! by)",
    "a_thing": rf"^(?:the )?names? of|^(?:in |at |on |from |to )?(?:which|what) (?!{_ASKING_WORD}\b)"
    rf"(?!{_PROPERTY}\b|[a-z]+ {_PROPERTY}\b)[\w-]+ (?!is\b)"
    rf"|^what did .{{2,40}} (?:with|recommend|suggest|buy|choose|pick|use)\b|^what else\b"
    rf"|^(?!.* (?:who|what)\b)(?:the |an? )?(?!{_PROPERTY}\b)[\w-]+ (?:that|where|used|replaced|{_PARTICIPLE} by)\b",
    "about": r"\b(?:tell me|know|anything|everything|something|notes?|info\w*|details?|learned|learnt|remember)"
    r" (?:\w+ )?(?:about|on)\b"
    r"|^(?:who|what)(?: is|'s| are) (?:[\w.-]+ ?){1,2}\??$|^(?:describe|about)\b",
    "yes_or_no": r"^(?:did|has|have|had|do|does|was|were|can|could|should|will|would|are there|is there)\b",
    "counted": r"\bhow often\b|\b(?:average|total|percent\w*)\b",
    "attribute": r"\b(?:what(?:'s| is| was| are| were)|the) (?:the |our |my |his |her |their |its |[\w.-]+'s )?"
    r"([\w-]+(?: [\w-]+)?) (?:of|for)\b"
    r"|\b(?:what|which) (?!(?:is|was|are|were|do|did|does|has|have|will|should|happened)\b)([\w-]+)\b"
    r"|\w's ([\w-]+)"
    r"|\bhow (many|much|big|large|old|fast|often|long|high|tall|far|expensive)\b"
    r"|^(?:the )?([\w-]+) (?:of|for)\b",
    # what an answer must hold
    "of_time": r"\b(?:when|how long|date|day|time|month|year|latest|newest|recent)\b",
    "of_people": r"\b(?:who|whom|whose)\b",
    "of_places": r"\b(?:where|city|country|place|town)\b",
    "of_reasons": r"\b(?:why|reason|rationale|cause[ds]?|because)\b",
    "of_numbers": r"\b(?:how (?:many|much|often|big|large|fast|old|high|far)|number|count|total|percent\w*)\b",
    "of_lists": rf"\b(?:list|all|every|which {_PLURAL}|what are)\b",
    "of_steps": r"\bhow (?:do|to|should|can)\b",
    "of_decisions": r"\b(?:deci(?:de[ds]?|sions?)|chose|choose|agreed?)\b",
    "of_status": r"\b(?:status|progress|open|done|blocked|finished|pending)\b",
}

WRITTEN = {
    "what_is_it": r"^(?i:what is) (?!(?:the|our|my|your|his|her|their|its|this|that|in|on|at|about|left|new|wrong"
    r"|next|up"
    r"|due|open|missing|still|going)\b)[a-z]+(?:[ -][a-z]+){0,2}\??$",
    "itself_by_name": rf"^(?i:(?:(?:what|who|which) (?:is|was|are|were) |(?:the )?names? of )(?:the|that|an?|our|my)"
    rf" (?:{_NOUN}){{1,3}})[A-Z][a-z]+\b",
    "thing_somebody_did": rf"(?i:{_THE}(?:where )?)[A-Z][a-z]+ (?i:(?:later )?{_DID}\b)",
    "things_of": rf"^(?i:(?!(?:{_ASKING_WORD}|this|yes)\b)(?:[a-z]+ )?{_PLURAL} "
    r"(?:we|i|they|he|she|that|who|from|with|about|by|in|on|of|at|for|without|\w+ed|(?-i:[A-Z]\w+))\b)",
}
