"""Things: places, companies, tools. Data only."""

from __future__ import annotations

PLACES = frozenset(
    """africa america amsterdam asia athens austin australia austria bangalore barcelona basel beijing belgium berlin
    boston brazil brussels budapest california canada chicago china cologne copenhagen dallas denmark denver dublin
    edinburgh england europe finland florence frankfurt france geneva georgia germany hamburg helsinki india ireland
    israel italy japan kyoto lisbon london lyon madrid manchester mexico miami milan montreal moscow munich
    netherlands norway osaka oslo paris poland porto portugal prague rome scotland seattle shanghai singapore spain
    stockholm stuttgart sweden sydney switzerland texas tokyo toronto turkey ukraine usa uk eu us vancouver venice
    vienna warsaw washington york zurich""".split()
)
COMPANIES = frozenset(
    """acme adobe allianz amazon apple audi basf bayer bmw bosch boeing cisco comcast dell deutsche dhl ebay edeka
    ericsson facebook fedex ford fujitsu google hetzner hitachi honda hp huawei ibm ikea infineon intel lenovo lidl
    logitech lufthansa mastercard mercedes meta microsoft miele mozilla netflix nike nokia nvidia orange ovh panasonic
    paypal pfizer philips porsche qualcomm renault roche ryanair samsung sap shopify siemens sony spotify stadtwerke
    telekom tesla toyota uber unilever ups verizon visa vodafone volkswagen walmart xerox zalando""".split()
)
TOOLS_LIKE_NAMES = frozenset("ruby jasmine jenkins hugo claude celery".split())
GENERIC = frozenset(
    """api pr prs ci cd ui ux db url sql http https json csv ok ai cpu gpu ram ssl tls dns tcp udp ip id faq pdf html
    css xml yaml usb vpn ssh cli sdk mvp kpi roi eta eod asap fyi tbd wip qa hr it cto ceo cfo pm am utc gmt cet est
    pst q1 q2 q3 q4 p0 p1 p2 todo fixme rfc adr sla slo orm crud rest cors jwt oauth llm gdpr phd iso ms kb mb gb tb
    eur usd os""".split()
)
DEPARTMENTS = frozenset(
    "legal marketing sales support finance engineering hr design product security ops operations accounting".split()
)
KINDS = frozenset(
    "project app application tool library service framework platform database package program repo file module".split()
)
NO_NAMED_THING = frozenset(
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
    hello hi dear sorry half part most each great good bad nice big small new old""".split()
)
TELLS = frozenset(
    """needs runs works handles supports replaces stores reads writes uses fails failed crashed crashes broke starts
    started stopped keeps takes gives got went came shows sends moved ships shipped lets makes made lost raised
    costs comes goes""".split()
)
