// A draft stays in this browser, for its person and its day alone, until it was saved or that
// person logs out. Another person who logs in here finds an empty form.
const person = document.body.dataset.draft;
const composer = document.querySelector("form.composer");
const text = composer?.elements.content;
const fields = () => ["title", "content", "date", "time"].map((name) => composer.elements[name]);
const values = () => JSON.stringify(fields().map((field) => field.value));
const isEmpty = () => !composer.elements.title.value && !text.value;
const [key, sent] = JSON.parse(sessionStorage.getItem("sent") ?? "[]");
const isSaved = sent && document.querySelector(".done[role=status]");
if (isSaved && localStorage.getItem(key) === sent) localStorage.removeItem(key);
// a form that was refused shows what was sent, and may still be saved
if (!document.querySelector("form.edit")) sessionStorage.removeItem("sent");

if (composer) {
  const here = person + composer.dataset.draft;
  const told = document.getElementById("kept");
  if (isEmpty() && localStorage.getItem(here)) {
    const draft = JSON.parse(localStorage.getItem(here));
    draft.forEach((value, at) => { fields()[at].value = value; });
    told.textContent = "Your draft is here again.";
  }
  if (text.value) addEventListener("load", () => htmx.trigger(text, "draft"));
  composer.addEventListener("input", () => {
    if (isEmpty()) localStorage.removeItem(here);
    else localStorage.setItem(here, values());
    told.textContent = isEmpty() ? "" : "Draft kept in this browser";
  });
  composer.addEventListener("submit", () => {
    sessionStorage.setItem("sent", JSON.stringify([here, values()]));
  });
}
document.querySelector("form.leave")?.addEventListener("submit", () => {
  const mine = (name) => name === person || name.startsWith(`${person}/`);
  Object.keys(localStorage).filter(mine).forEach((name) => localStorage.removeItem(name));
  sessionStorage.removeItem("sent");
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
