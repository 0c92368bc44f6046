// What is typed into a form stays in this browser, for its person, its form and its tab, until it
// was saved or thrown away, or that person logs out; a log-out leaves what stands in other open
// tabs. Another person who logs in here finds an empty form; a tab finds the draft of one that is
// gone.
const person = document.body.dataset.draft;
const form = document.querySelector("form[data-draft]");
const told = document.getElementById("kept");
const discard = document.getElementById("discard");
const others = window.BroadcastChannel ? new BroadcastChannel("drafts") : null;
const WAIT_MS = 150; // in which other tabs say that they are there
const newTab = () => (sessionStorage.tab = Math.random().toString(36).slice(2));
let tab = sessionStorage.tab ?? newTab();
const read = (name) => JSON.parse(localStorage.getItem(name) ?? "null");

let isTyped = () => false;

others?.addEventListener("message", ({ data }) => {
  if (data.asks) others.postMessage({ is: tab, isTyped: isTyped() });
});
const readSent = () => JSON.parse(sessionStorage.sent ?? "[]");
const isSaved = document.querySelector(".done[role=status]");
for (const [name, values] of isSaved ? readSent() : []) {
  if (JSON.stringify(read(name)?.values) === JSON.stringify(values)) localStorage.removeItem(name);
}
// a form that was refused shows what was sent, and may still be saved
if (!form || !("refused" in form.dataset)) sessionStorage.removeItem("sent");

if (form) {
  const base = person + form.dataset.draft;
  const here = () => `${base}#${tab}`;
  const own = (one) => one.name && one.type !== "file" && !["csrf", "back"].includes(one.name);
  const values = () => [...form.elements].filter(own).map((one) => [one.name, one.value]);
  const first = JSON.stringify(values());
  const isUntouched = () => JSON.stringify(values()) === first;
  isTyped = () => !isUntouched();
  const say = (words) => {
    told.textContent = words;
    discard.hidden = !words;
  };
  const tell = (area) => {
    area.dispatchEvent(new Event("input", { bubbles: true }));
    window.htmx?.trigger(area, "draft");
  };
  const keep = () => {
    if (isUntouched()) localStorage.removeItem(here());
    else localStorage.setItem(here(), JSON.stringify({ at: Date.now(), values: values() }));
    say(isUntouched() ? "" : "Draft kept in this browser");
  };
  const bring = (name) => {
    const { values: pairs } = read(name);
    if (name !== here()) localStorage.removeItem(name);
    const isOlder = pairs.some(([key, value]) => key === "seen" && value !== form.elements.seen?.value);
    for (const [key, value] of pairs) {
      const field = key === "draft" ? null : form.elements[key];
      if (field) field.value = value;
      else form.append(Object.assign(document.createElement("input"), { type: "hidden", name: key, value }));
    }
    form.querySelectorAll("textarea").forEach(tell);
    keep();
    say(isOlder ? "Your draft is here again. The text changed meanwhile: a save shows both."
      : "Your draft is here again.");
  };
  const asked = (name) => name.startsWith(`${base}#`) && name !== here();
  const find = (living) => Object.keys(localStorage)
    .filter((name) => asked(name) && !living.has(name.slice(base.length + 1)))
    .sort((one, other) => read(other).at - read(one).at)[0];

  const old = read(base); // as it was kept before tabs had their own
  if (Array.isArray(old)) {
    const names = ["title", "content", "date", "time"];
    const pairs = old.map((value, at) => [names[at], value]);
    localStorage.setItem(`${base}#before`, JSON.stringify({ at: 0, values: pairs }));
    localStorage.removeItem(base);
  }
  const mayBring = !("refused" in form.dataset);
  const isHere = mayBring && read(here());
  if (isHere) bring(here());
  const living = new Set();
  others?.addEventListener("message", ({ data }) => { if (data.is) living.add(data.is); });
  others?.postMessage({ asks: true });
  setTimeout(() => {
    if (living.has(tab)) { // the browser made this tab as a copy of another
      tab = newTab();
      if (!isUntouched()) keep();
    }
    const name = mayBring && !isHere && isUntouched() && find(living);
    if (name) bring(name);
  }, WAIT_MS);
  addEventListener("load", () => form.querySelectorAll("textarea").forEach((area) => {
    if (area.value) window.htmx?.trigger(area, "draft");
  }));
  form.addEventListener("input", keep);
  form.addEventListener("submit", () => {
    keep(); // as it is sent: a save ends the draft that is the same
    sessionStorage.sent = JSON.stringify([...readSent(), [here(), values()]]);
  });
  discard.addEventListener("click", () => {
    form.querySelectorAll("input[name=draft]").forEach((one) => one.remove());
    form.reset();
    form.querySelectorAll("textarea").forEach(tell);
    localStorage.removeItem(here());
    say("");
    form.querySelector("textarea:not([readonly])").focus();
  });
}
const leave = document.querySelector("form.leave");
leave?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const open = new Set();
  others?.addEventListener("message", ({ data }) => { if (data.isTyped) open.add(data.is); });
  others?.postMessage({ asks: true });
  await new Promise((go) => setTimeout(go, WAIT_MS));
  const mine = (name) => name === person || [`${person}/`, `${person}#`].some(
    (begins) => name.startsWith(begins));
  Object.keys(localStorage)
    .filter((name) => mine(name) && !open.has(name.slice(name.lastIndexOf("#") + 1)))
    .forEach((name) => localStorage.removeItem(name));
  sessionStorage.removeItem("sent");
  if (open.size) { // then the browser's storage is not emptied
    leave.append(Object.assign(document.createElement("input"), { type: "hidden", name: "keeps", value: "drafts" }));
  }
  leave.submit();
});
