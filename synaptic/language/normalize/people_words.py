"""People: first names, titles, roles, what they do. Data only."""

from __future__ import annotations

from typing import Literal

Gender = Literal["he", "she", "any"]

HE = frozenset(
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
    grandfather uncle daddy jorge mathieu marek kwame kofi hiro kazuo oskar tariq bilal""".split()
)
SHE = frozenset(
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
    mei nadira saskia ayesha noor leyla deniz anika ingeborg siobhan aoife niamh paulina zara""".split()
)
EITHER = frozenset(
    """alex andy ari ash ashley avery bailey blake cameron casey charlie chris dakota dana dev devon drew eden elliot
    emery finley frankie gabi hayden jamie jay jean jess jesse jo jordan jules kai kelly kim kit kris lee leslie
    lindsay lou mika morgan nicky nico noel nikita pat peyton quinn reese remy riley robin rory rowan sacha sage sam
    sascha sasha shannon sidney skyler spencer stevie sydney taylor terry toby tracy val yuki rené andi toni wei min
    li chen yan jian max jody marion parker logan hunter harper sunny kiran mario jaime""".split()
)
ALSO_WORDS: dict[str, Gender] = {
    **dict.fromkeys(
        "april may june grace hope joy rose dawn faith iris ruby jade crystal sue amber penny".split(), "she"
    ),
    **dict.fromkeys("august mark will frank rich art dean grant chase miles ray gene pierce".split(), "he"),
}
TITLES: dict[str, Gender] = {
    "mr": "he", "sir": "he", "herr": "he", "mrs": "she", "ms": "she", "miss": "she", "madam": "she", "frau": "she",
    "dr": "any", "prof": "any", "professor": "any", "doctor": "any",
}  # fmt: skip
ROLES = frozenset(
    """accountant admin adviser analyst applicant architect attendee auditor author boss boy buyer candidate cashier
    caller ceo chef child client coach colleague consultant contractor cousin coworker cto customer designer
    developer director doctor driver editor electrician employee engineer expert founder friend girl guest guy hire
    host instructor intern interviewer investor kid lady landlord lawyer lead leader maintainer man manager mentor
    nurse owner partner patient person planner plumber professor programmer recruiter reporter representative
    researcher reviewer roommate scientist secretary seller sister-in-law speaker specialist stakeholder student
    supplier teacher teammate technician tenant tester trainee trainer translator user vendor visitor witness woman
    worker writer neighbour neighbor someone somebody anyone stranger vet dentist assistant operator technologist
    newcomer successor predecessor""".split()
)
HE_ROLES = frozenset("husband brother father son dad uncle grandfather boyfriend nephew man boy guy landlord".split())
SHE_ROLES = frozenset(
    "wife sister mother daughter mum mom aunt grandmother girlfriend niece woman girl lady landlady".split()
)
GROUPS = frozenset(
    "team group department board committee squad crew guild band family staff council union unit division".split()
)
SAYS = frozenset(
    """said says asked asks told tells wrote writes thinks thought suggested suggests proposed proposes promised
    promises agreed agrees wants wanted prefers preferred emailed pinged joined joins reviewed reviews approved
    approves mentioned mentions explained explains noticed believes feels felt offered offers refused decided
    replied answered complained worries worried loves likes hates knows knew lives met visited bought sold resigned
    retired volunteered apologised apologized called calls presented presents hopes hoped reckons insisted insists
    argued argues disagreed disagrees objected confirmed reminded recommends recommended warned forgot remembered
    wondered spoke speaks talked""".split()
)
DOES = SAYS | frozenset(
    """fixed found rewrote moved started took went works worked will finished built deployed made gave sent wrote left
    came got has had is was can opened tested merged added removed changed set created cleaned ran drove paid
    drafted designed""".split()
)
ABOUT_PERSON = frozenset("on out back away sick ill late happy sure leaving going coming working worried".split())
TO_PERSON = frozenset(
    """asked told met called emailed pinged thanked hired interviewed invited reminded phoned messaged texted helped
    paired""".split()
)
WITH_PERSON = frozenset("with from to by for and".split())
MET_WITH = frozenset(
    "talked spoke met call meeting lunch thanks chat coffee dinner paired pairing interview review feedback".split()
)
TO_PERSON_ONLY = frozenset("met thanked hired interviewed invited helped".split())
ATE_WITH = frozenset("lunch coffee dinner chat interview paired pairing".split())
GENDERS: dict[str, Gender] = {
    **dict.fromkeys(HE, "he"),
    **dict.fromkeys(SHE, "she"),
    **dict.fromkeys(EITHER, "any"),
    **ALSO_WORDS,
}
SOMEBODY = ROLES | HE_ROLES | SHE_ROLES
UNFIT = {"he": SHE_ROLES, "she": HE_ROLES}
HUMAN = SAYS | frozenset("want prefer agree ask think need will decided say know".split())
MANY_PEOPLE = frozenset("people users customers clients".split())
KINSHIP = frozenset("manager boss team mother father brother sister husband wife friend colleague".split())
