// The server tells when the journal changed. Only a page that is seen listens: browsers open
// few connections to one server. Whoever is at work within the part is not disturbed.
const part = () => document.getElementById("follow");
let stream, again;
const isBusy = () => part().querySelector("details[open], :is(input, textarea, select):focus")
  || (!getSelection().isCollapsed && part().contains(getSelection().anchorNode));
function renew() {
  clearTimeout(again);
  if (isBusy()) again = setTimeout(renew, 1000);
  else htmx.trigger(part(), "journal");
}
function listen() {
  stream?.close();
  if (document.hidden) return;
  stream = new EventSource(`/events?since=${part().dataset.since}`);
  stream.addEventListener("message", renew);
}
if (part()?.dataset.since) {
  listen();
  document.addEventListener("visibilitychange", listen);
}
