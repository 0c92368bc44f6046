"""`serve --phone`: the address in the network, the code for the camera, and the page that shows
it.
"""

import io
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import ip_address
from typing import Any

import typer
from starlette.requests import Request
from starlette.responses import Response

from ...errors import InvalidArgument, Refused
from ...models import PERSON
from ...render.terminal import is_terminal, say
from .phone_code import PHONE_PORT, PhoneCode
from .site import Page, page, read_form, session_of, site_of
from .translation import mark_text, translate

READABLE = mark_text(
    "Nothing that passes is encrypted. Others in this network could read it: the code, the key "
    "that your phone keeps, and every note that it shows. They could open the journal with it. "
    "Use a network that you trust, at home and not in a café."
)
TLS = mark_text("""\
With TLS nobody can read it. For example with Tailscale on both devices:
  synaptic token phone --page --token-file FILE
  synaptic serve --port %(port)s --allow-host NAME.TAILNET.ts.net --token-file FILE
  tailscale serve --bg %(port)s
docs/SERVE.md, "TLS in front", has the lines for Caddy, too.""")
_ELSEWHERE = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
"""Addresses that nobody has (RFC 5737, RFC 3849): the system says from which of its own it
would send to them. Nothing is sent.
"""


def choose_address(host: str) -> str:
    """Returns the network address on which a phone reaches this machine: `host` if it is one,
    else what a person chooses.

    Raises InvalidArgument for a name, and where nobody can be asked.
    """
    if host != "127.0.0.1":
        return _check_address(host)
    addresses = list(dict.fromkeys(_own_addresses()))
    if not is_terminal(sys.stdin, sys.stderr):
        raise InvalidArgument(
            "--phone asks for a network address, and there is no terminal to ask on.",
            "Give it with --host.",
            valid=addresses,
        )
    say("At which address of this machine shall the phone reach it?")
    for number, address in enumerate(addresses, 1):
        say(f"  {number}  {address}{_describe(address)}")
    while True:
        typed = typer.prompt(
            "A number or an address", default="1" if addresses else None, err=True
        ).strip()
        if typed.isdigit() and 0 < int(typed) <= len(addresses):
            return addresses[int(typed) - 1]
        try:
            return _check_address(typed)
        except InvalidArgument as error:
            say(str(error))


def _check_address(host: str) -> str:
    """Returns the address as it is usually written. Raises InvalidArgument for a name, and for
    an address that no phone reaches.
    """
    with suppress(ValueError):
        address = ip_address(host.strip("[]"))
        if not (address.is_loopback or address.is_unspecified or address.is_multicast):
            return str(address)
    raise InvalidArgument(
        f"{host!r} is not an address of this machine in a network.",
        "Give numbers such as 192.168.1.20, and no name: a name can lead elsewhere.",
    )


def _own_addresses() -> Iterator[str]:
    """Yields this machine's addresses in networks, first the one from which it would send."""
    for family, elsewhere in _ELSEWHERE:
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as outgoing:
            outgoing.connect((elsewhere, 9))
            yield outgoing.getsockname()[0]
    with suppress(OSError):
        for *_, place in socket.getaddrinfo(socket.gethostname(), None):
            with suppress(InvalidArgument):
                if not ip_address(str(place[0]).partition("%")[0]).is_link_local:
                    yield _check_address(str(place[0]))


def _describe(address: str) -> str:
    """Returns a remark for an address that the whole Internet may reach."""
    return " (the Internet may reach it)" if ip_address(address).is_global else ""


def phone_text(code: PhoneCode, port: int) -> str:
    """Returns what `serve --phone` prints: the code, on a terminal as a picture, its address,
    and what others could read.
    """
    address = code.make_address()
    picture = _draw_in_terminal(address) if is_terminal(sys.stdout) else ""
    return (
        "On your phone, in the same network, point the camera at this code, or type the "
        "address. It works once, for five minutes; More > Phone on the page makes another.\n"
        f"{picture}"
        f"{address}\n\n{READABLE}\n\n{TLS % {'port': port}}"
    )


def _draw_in_terminal(address: str) -> str:
    import segno

    drawing = io.StringIO()
    segno.make(address, error="l", micro=False).terminal(out=drawing, compact=True)
    return drawing.getvalue()


async def _phone_page(request: Request) -> Response:
    return await page(request, "phone.html", **_page_values(request))


async def _make_code(request: Request) -> Response:
    """Shows a new code for a phone. Only a person on this computer makes one."""
    import segno
    from markupsafe import Markup

    await read_form(request)
    values = _page_values(request)
    if not values["may_make"]:
        raise Refused(
            translate("Only the browser of this computer lets a phone in."),
            translate(
                "Start `synaptic serve --phone` here, and open the address that it prints."
            ),
        )
    code = site_of(request).phone
    assert code
    address = code.make_address()
    drawing = segno.make(address, error="l", micro=False).svg_inline(
        scale=5, light="white", omitsize=True
    )
    values |= {"address": address, "drawing": Markup(drawing)}
    return await page(request, "phone.html", **values)


def _page_values(request: Request) -> dict[str, Any]:
    session = session_of(request)
    is_here = session.name == PERSON and not session.read_only and not session.device
    may_make = is_here and site_of(request).phone is not None
    tls = translate(TLS, port=str(request.url.port or PHONE_PORT))
    return {
        "may_make": may_make,
        "address": "",
        "drawing": "",
        "readable": translate(READABLE),
        "tls": tls,
    }


PAGES = [
    Page("/phone", "neither", _phone_page),
    Page("/phone", "neither", _make_code, methods=["POST"]),
]
