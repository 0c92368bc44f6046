"""Small words and what they tell of a sentence. Data only."""

from __future__ import annotations

from ..lexicon import DAY_NAMES, MONTHS

PRONOUNS: dict[str, str] = {
    "he": "he", "him": "he", "his": "he", "she": "she", "her": "she", "hers": "she",
    "it": "it", "its": "it", "they": "they", "them": "they", "their": "they", "theirs": "they",
}  # fmt: skip
OWNING = frozenset("his hers its their theirs".split())
FUNCTION = frozenset(
    """a about after again against all also although always am an and another any are around as at back be because been
    before being both but by can could did do does done down during each either else even ever every few finally
    first for from had has have having here how however if in instead into is it its just last later least less like
    many may maybe me might mine more most much must my never new next no none nor not nothing now of off often on
    once one only onto or other our out over own per perhaps please quite rather really same shall should since so
    some soon still such than thanks that the their then there therefore these they this those though through thus
    till to today together tomorrow tonight too toward two under unless until unlike up upon us very via was we were
    what when where whether which while who whose why will with within without would yes yesterday yet you your i he
    she him her his hers meanwhile otherwise besides three four five six seven eight nine ten note todo ok okay
    update idea reminder warning question decision""".split()
)
NO_NAMES = frozenset(
    """christmas easter i english german french spanish italian japanese chinese american british european dutch polish
    russian""".split()
).union(MONTHS, DAY_NAMES)
"""Words with a capital that name nobody and nothing."""
VERBS = frozenset(
    """add added ask asked began begin bought bring brought build built buy call change check choose chose clean
    consider debug decide deploy did disable do drop enable export finish fix found gave get give got had have heard
    import install keep kept learn learned look made make meet merge met migrate move need paid pay plan put ran
    read remove rename replace restart restore review rewrite rewrote run saw see sent set ship spent start stop
    switch take talked teach test took tried try turn update upgrade use want went wrote write looking let""".split()
)
PREPOSITIONS = frozenset(
    """in on at after before when since because with for if while as during once until from to by into onto over under
    of about via through without within between behind against near than whenever although though unless like
    despite""".split()
)
SUBORDINATE = frozenset(
    "when since because if while as once until before after whenever although though unless".split()
)
DETERMINERS = frozenset("the a an this that our my his her its their your another each every one any no some".split())
PEOPLE_WORDS = frozenset("i we you he she they everyone nobody someone everybody who us me".split())
ADVERBS = frozenset(
    """then also so now finally still however and but today yesterday tomorrow meanwhile later again afterwards instead
    yes no well plus luckily sadly fortunately unfortunately initially eventually currently first second next
    or""".split()
)
AUX = frozenset("is was are were has had will would can could does did should may might isn't wasn't".split())
MANY = frozenset("people children men women folks data".split())
SPANS = frozenset("days weeks months years hours minutes times seconds".split())
OPENS_CLAUSE = frozenset("when because if while although though unless whenever and but so that which".split())
HARMLESS = frozenset("try look go shot chance test week day month year lot bit first last next weekend".split())
LETS = frozenset("let help helped make made watch watched have had see saw hear heard".split())
GIVES = frozenset("gave give gives sent send sends showed shows handed lent offered paid owes bring brought".split())
PLURAL_BEFORE = frozenset(
    """the these those our my all some many few two three four five six several most both old new other more their his
    her a and of with for from no any""".split()
)
CLAUSE_WORDS = frozenset(
    """and but or because when that who which if so while after before since as than said says thinks thought asked
    told where until though although whether how why what hopes believes knows agreed""".split()
)
COMMON_END = r"(?:tion|ment|ness|ance|ence|ship|ings?|ities|ity|tions|ments|ed|ly|ers|ors)\Z"
"""How many common words end, and few names."""
AFTER_OBJECT = (FUNCTION | PREPOSITIONS) - frozenset("own same last first next new".split()) | frozenset(
    "again yesterday today tomorrow later soon too here there".split()
)
