// What is typed into a form stays in this browser, for its person, its form and its tab, until it
// was saved or thrown away, or that person logs out; a log-out leaves what stands in other open
// tabs. Another person who logs in here finds an empty form; a tab finds the draft of one that is
// gone.
import { translate } from "/static/texts.js";
const person = document.body.dataset.draft;
const forms = document.querySelectorAll("form[data-draft]");
const others = window.BroadcastChannel ? new BroadcastChannel("drafts") : null;
const WAIT_MS = 150; // in which other tabs say that they are there
const newTab = () => (sessionStorage.tab = Math.random().toString(36).slice(2));
let tab = sessionStorage.tab ?? newTab();
const isMine = (name) => name === person || /^[/#]/.test(name.slice(person.length))
  && name.startsWith(person);

let database = null;
const connect = () => (database ??= new Promise((done, fail) => {
  const asking = indexedDB.open("drafts", 1);
  asking.onupgradeneeded = () => asking.result.createObjectStore("drafts");
  asking.onerror = () => fail(asking.error);
  asking.onsuccess = () => {
    asking.result.onclose = () => (database = null); // another tab logged out
    done(asking.result);
  };
}));

// Ends when the changes are on the disk, so that a browser that is killed as a whole loses none.
const change = async (act) => {
  const run = (await connect()).transaction("drafts", "readwrite", { durability: "strict" });
  act(run.objectStore("drafts"));
  run.commit?.(); // before a page goes that was left at once
  return new Promise((done, fail) => {
    run.oncomplete = done;
    run.onabort = () => fail(run.error);
  });
};
const readAll = async () => {
  const store = (await connect()).transaction("drafts").objectStore("drafts");
  const [names, drafts] = await Promise.all([store.getAllKeys(), store.getAll()].map((asking) =>
    new Promise((done, fail) => {
      asking.onsuccess = () => done(asking.result);
      asking.onerror = () => fail(asking.error);
    })));
  return new Map(names.map((name, at) => [name, drafts[at]]).filter(([name]) => isMine(name)));
};
const drop = (names) => change((store) => names.forEach((name) => store.delete(name)));

// Takes over the drafts that stood in localStorage, once as a list of four values.
const takeOver = async () => {
  const names = Object.keys(localStorage).filter(isMine);
  const fields = ["title", "content", "date", "time"];
  const read = (name) => {
    const draft = JSON.parse(localStorage.getItem(name));
    const values = Array.isArray(draft) && draft.map((value, at) => [fields[at], value]);
    return values ? [`${name}#before`, { at: 0, values }] : [name, draft];
  };
  const drafts = names.map(read);
  if (names.length) await change((store) => drafts.forEach(([name, draft]) => store.put(draft, name)));
  names.forEach((name) => localStorage.removeItem(name));
};

// A text is sent once Synaptic answers: else the browser would show an error in its place.
const ANSWER_MS = 1e4;
const lost = new Set(); // forms whose text this browser cannot keep
let asking, sending;
addEventListener("submit", async (event) => {
  const { target: form, submitter } = event;
  if (!("draft" in form.dataset) || form === sending) return;
  event.preventDefault();
  event.stopImmediatePropagation(); // nothing counts it as sent
  if (form === asking) return;
  asking = form;
  const head = { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS) };
  const answer = await fetch("/static/texts.js", head).catch(() => 0);
  asking = 0;
  document.getElementById("unsent")?.remove();
  if (answer.ok) {
    sending = form;
    form.requestSubmit(submitter);
    sending = 0;
    return;
  }
  const told = Object.assign(document.createElement("p"), { id: "unsent", className: "warning", role: "alert" });
  const named = { button: submitter?.textContent.trim() };
  told.textContent = lost.has(form) ? translate("Nothing was saved yet, because Synaptic does not answer. Your text is in this form alone: start `synaptic serve`, or wait for the network, and press “%(button)s” again.", named)
    : translate("Nothing was saved yet, because Synaptic does not answer. Your text is kept in this browser: start `synaptic serve`, or wait for the network, and press “%(button)s” again.", named);
  (form.querySelector(".actions") ?? form).prepend(told);
}, true);

const areUntouched = [];
const isTyped = () => areUntouched.some((isUntouched) => !isUntouched());

others?.addEventListener("message", ({ data }) => {
  if (data.asks) others.postMessage({ is: tab, isTyped: isTyped() });
});
const readSent = () => JSON.parse(sessionStorage.sent ?? "[]");
const isSaved = document.querySelector(".done[role=status]");
const begin = async () => {
  await takeOver();
  const drafts = await readAll();
  // not compared by its words: a browser may leave a page before it wrote what was sent
  const isSent = ([name, at]) => drafts.get(name)?.at <= at;
  const saved = isSaved ? readSent().filter(isSent).map(([name]) => name) : [];
  if (saved.length) await drop(saved);
  saved.forEach((name) => drafts.delete(name));
  // a form that was refused shows what was sent, and may still be saved
  if (!document.querySelector("[data-refused]")) sessionStorage.removeItem("sent");
  return drafts;
};
const begun = begin();

for (const form of forms) {
  const told = form.querySelector("#kept"), discard = form.querySelector("#discard");
  const label = discard?.textContent;
  const base = person + form.dataset.draft;
  const here = () => `${base}#${tab}`;
  const own = (one) => one.name && one.type !== "file" && !["csrf", "back"].includes(one.name);
  const values = () => [...form.elements].filter(own).map((one) => [one.name, one.value]);
  const first = JSON.stringify(values());
  const isUntouched = () => JSON.stringify(values()) === first;
  areUntouched.push(isUntouched);
  let thrown = null; // what was thrown away, until something else is typed
  const say = (words, isNews = false) => {
    if (!told) return;
    told.textContent = words;
    told.className = isNews ? "notice" : "soft";
    discard.hidden = !words;
    discard.textContent = thrown ? translate("Put it back") : label;
  };
  const tell = (area) => {
    area.dispatchEvent(new Event("input", { bubbles: true }));
    window.htmx?.trigger(area, "draft");
  };
  let changes = 0;
  const keep = async (news) => {
    const number = (changes += 1);
    const draft = { at: Date.now(), values: values() };
    const isEmpty = isUntouched();
    await begun; // which reads the draft that this one replaces
    await change((store) => (isEmpty ? store.delete(here()) : store.put(draft, here())));
    if (number !== changes) return;
    if (!isEmpty) thrown = null;
    if (!thrown) say(isEmpty ? "" : news ?? translate("Draft kept in this browser"), news);
  };
  const bring = async (name, { values: pairs }) => {
    const isOlder = pairs.some(([key, value]) => key === "seen" && value !== form.elements.seen?.value);
    for (const [key, value] of pairs) {
      const field = key === "draft" ? null : form.elements[key];
      if (field) {
        const fold = field.value === value ? null : field.closest("details");
        if (fold) fold.open = true;
        field.value = value;
      }
      else form.elements.csrf.after(Object.assign(document.createElement("input"), { type: "hidden", name: key, value }));
    }
    form.querySelectorAll("textarea").forEach(tell);
    await keep(isOlder ? translate("Your draft is here again. The text changed meanwhile: a save shows both.")
      : translate("Your draft is here again."));
    if (name !== here()) await drop([name]);
  };
  const find = (drafts, living) => [...drafts]
    .filter(([name]) => name.startsWith(`${base}#`) && name !== here())
    .filter(([name]) => !living.has(name.slice(base.length + 1)))
    .sort(([, one], [, other]) => other.at - one.at)[0];

  const mayBring = !("refused" in form.dataset);
  const living = new Set();
  others?.addEventListener("message", ({ data }) => { if (data.is) living.add(data.is); });
  const look = async () => {
    const drafts = await begun;
    const draft = mayBring && drafts.get(here());
    if (draft && isUntouched()) await bring(here(), draft);
    else if (draft) tab = newTab(); // typed already: the draft waits as one of a tab that is gone
    others?.postMessage({ asks: true });
    await new Promise((go) => setTimeout(go, WAIT_MS));
    if (living.has(tab)) { // the browser made this tab as a copy of another
      tab = newTab();
      if (!isUntouched()) await keep();
    }
    const left = mayBring && isUntouched() && find(drafts, living);
    if (left) await bring(...left);
  };
  look();
  addEventListener("load", () => form.querySelectorAll("textarea").forEach((area) => {
    if (area.value) window.htmx?.trigger(area, "draft");
  }));
  form.addEventListener("input", () => keep().then(() => lost.delete(form), () => lost.add(form)));
  form.addEventListener("submit", () => {
    asking = form;
    lost.delete(form);
    keep(); // as it is sent, which may be refused
    sessionStorage.sent = JSON.stringify([...readSent(), [here(), Date.now()]]);
  });
  discard?.addEventListener("click", () => {
    const back = thrown;
    thrown = back ? null : values();
    if (back) bring(here(), { values: back });
    else {
      form.querySelectorAll("input[name=draft]").forEach((one) => one.remove());
      form.reset();
      form.querySelectorAll("textarea").forEach(tell);
      drop([here()]);
      say(translate("Thrown away."));
    }
    form.querySelector("textarea:not([readonly])").focus();
  });
}
addEventListener("pageshow", () => (asking = 0));
// A text that cannot be kept is not left without a question.
addEventListener("beforeunload", (event) => { if (lost.size) event.preventDefault(); });
const leave = document.querySelector("form.leave");
leave?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const open = new Set();
  others?.addEventListener("message", ({ data }) => { if (data.isTyped) open.add(data.is); });
  others?.postMessage({ asks: true });
  await new Promise((go) => setTimeout(go, WAIT_MS));
  const isOpen = (name) => open.has(name.slice(name.lastIndexOf("#") + 1));
  const forget = async () => drop([...(await readAll()).keys()].filter((name) => !isOpen(name)));
  await forget().catch(() => {}); // a browser that stores nothing can log out, too
  sessionStorage.removeItem("sent");
  if (open.size) { // then the browser's storage is not emptied
    leave.append(Object.assign(document.createElement("input"), { type: "hidden", name: "keeps", value: "drafts" }));
  }
  leave.submit();
});
