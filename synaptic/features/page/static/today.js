// A draft stays in this browser until it was saved or its person logs out. A session from
// elsewhere keeps none: that machine may be anybody's.
const composer = document.querySelector("form.composer");
const text = composer?.elements.content;
const fields = () => ["title", "content", "date", "time"].map((name) => composer.elements[name]);
const values = () => JSON.stringify(fields().map((field) => field.value));
const isEmpty = () => !composer.elements.title.value && !text.value;
const sent = sessionStorage.getItem("sent");
const isSaved = sent && document.querySelector(".done[role=status]");
if (isSaved && localStorage.getItem("draft") === sent) localStorage.removeItem("draft");
// a form that was refused shows what was sent, and may still be saved
if (!document.querySelector("form.edit")) sessionStorage.removeItem("sent");

if (composer) {
  const keeps = "draft" in composer.dataset;
  const told = document.getElementById("kept");
  let isSending = false;
  if (keeps && isEmpty() && localStorage.getItem("draft")) {
    const draft = JSON.parse(localStorage.getItem("draft"));
    draft.forEach((value, at) => { fields()[at].value = value; });
    told.textContent = "Your draft is here again.";
  }
  if (text.value) addEventListener("load", () => htmx.trigger(text, "draft"));
  composer.addEventListener("input", () => {
    if (!keeps) return;
    if (isEmpty()) localStorage.removeItem("draft");
    else localStorage.setItem("draft", values());
    told.textContent = isEmpty() ? "" : "Draft kept in this browser";
  });
  composer.addEventListener("submit", () => {
    isSending = true;
    sessionStorage.setItem("sent", values());
  });
  addEventListener("beforeunload", (event) => {
    if (!keeps && !isSending && !isEmpty()) event.preventDefault();
  });
}
document.querySelector("form.leave")?.addEventListener("submit", () => {
  localStorage.removeItem("draft");
});

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
