"""The page that adds up a field of entries, as a table to copy or to download."""

from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from ...errors import InvalidArgument
from ...notes.amounts import HOURS
from ...render import wire
from ...verbs.totals import GROUPS, Totals, sum_field
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from .searching import filters_in_address, read_typed_filters
from .site import Page, page, run_slow_verb

MOST_FIELDS = 50
"""The most fields by whose values the page offers to group."""


async def _sums_page(request: Request) -> Response:
    """Shows the sums of a field over the entries that pass the filters in the address, named as
    in that of a search; with `csv`, as a file. Without a field it shows one that entries have.
    """
    asked = request.query_params
    in_address = {name: value for name, value in filters_in_address(asked).items() if value}
    field = asked.get("field", "").strip()
    by = asked.get("by", "").strip() or "month"
    groups = list(GROUPS)

    def add_up(ws: Workspace) -> Totals:
        groups.extend(sorted(in_step(ws, lambda _: ws.index.field_names()))[:MOST_FIELDS])
        filters = read_typed_filters(ws, in_address)
        try:
            return sum_field(ws, field or HOURS, by, filters=filters)
        except InvalidArgument as error:
            if field or not error.valid:
                raise
            return sum_field(ws, error.valid[0], by, filters=filters)

    status, totals, error = 200, None, None
    try:
        totals = await run_slow_verb(request, add_up, "slow")
    except InvalidArgument as wrong:
        status, error = 400 if field else 200, wrong
    if totals and "csv" in asked:
        headers = {"Content-Disposition": f'attachment; filename="sums-by-{totals.by}.csv"'}
        table = "\r\n".join([*wire.totals_csv_rows(totals), ""])
        return Response(table, media_type="text/csv; charset=utf-8", headers=headers)
    return await page(
        request,
        "sums.html",
        status,
        totals=totals,
        error=error,
        field=field or (totals.field if totals else HOURS),
        is_typed=bool(field),
        by=by,
        groups=groups,
        in_address=in_address,
        filters=urlencode(in_address, doseq=True),
    )


PAGES = [Page("/sums", "writer", _sums_page)]
