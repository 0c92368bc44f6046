// What is typed into a form stays in this browser, for its person, form and tab, until it was
// saved or thrown away, or that person logs out, but for other open tabs. Another person finds an
// empty form; a tab finds the draft of one that is gone.
import { translate } from "/static/texts.js";
const person = document.body.dataset.draft;
const forms = document.querySelectorAll("form[data-draft]");
const others = new BroadcastChannel("drafts");
const draw = () => Math.random().toString(36).slice(2);
const newTab = () => (sessionStorage.tab = draw());
let tab = sessionStorage.tab ?? newTab();
const isMine = (name) => name.startsWith(person) && /^([/#]|$)/.test(name.slice(person.length));

let database;
const connect = () => (database ??= new Promise((done, fail) => {
  const asking = indexedDB.open("drafts", 1);
  asking.onupgradeneeded = () => asking.result.createObjectStore("drafts");
  asking.onerror = () => fail(asking.error);
  asking.onsuccess = () => {
    asking.result.onclose = () => (database = null); // another tab logged out
    done(asking.result);
  };
}));

// Ends when they are on the disk: a browser that is killed as a whole loses none.
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
  let names, drafts;
  await change((store) => ([names, drafts] = [store.getAllKeys(), store.getAll()]));
  return names.result.map((name, at) => [name, drafts.result[at]]).filter(([name]) => isMine(name));
};
// What is typed has a number, and each change of it a version. A save sends them, and cookies name
// what was saved, which is neither shown nor kept again, whenever and by whichever page it comes.
const isSaved = ({ number, version }) => [...document.cookie.matchAll(`${number}-(\\d+)`)]
  .some(([, saved]) => saved >= version);
const drop = (drafts) => change((store) => drafts.forEach(([name]) => store.delete(name)));

// Drafts of 0.3.0: lists of four values in localStorage.
const takeOver = async () => {
  const fields = ["title", "content", "date", "time"];
  for (const name of Object.keys(localStorage).filter((one) => isMine(one) && !one.includes("#"))) {
    const values = JSON.parse(localStorage[name]).map((value, at) => [fields[at], value]);
    await change((store) => store.put({ at: 0, values }, `${name}#`));
    localStorage.removeItem(name);
  }
};

// A text whose Save was pressed is sent once Synaptic answers, else the browser shows an error.
// It is tried again by itself, after longer and longer pauses and whenever someone looks.
const lost = new Set(); // forms whose text this browser cannot keep
const pressed = new Map(); // forms whose text shall be sent, with the button, until one types
const sends = new Map(); // how often each form was sent since then
const states = new Map();
const MOST_SENDS = 3; // by itself
let asking, sending, sendingAgain, timer, pause;
const answers = () => fetch("/static/texts.js", { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(1e4) })
  .then(({ ok }) => ok, () => false);
const withdraw = (form) => {
  pressed.delete(form);
  form.querySelector("#unsent")?.remove();
};
const sendAgain = (form, submitter) => {
  sendingAgain = form;
  form.requestSubmit(submitter);
  sendingAgain = 0;
};
const tryAgain = async () => {
  clearTimeout(timer);
  const isThere = pressed.size && await answers();
  const [form, submitter] = pressed.entries().next().value ?? [];
  if (!form || form === asking) return;
  if (states.get(form).isSaved()) location.reload(); // by another tab
  else if (isThere) sendAgain(form, submitter);
  else wait();
};
const wait = () => {
  clearTimeout(timer);
  timer = setTimeout(tryAgain, pause);
  pause = Math.min(2 * pause, 6e4);
};
const wake = () => {
  pause = 2e3;
  tryAgain();
};
wake();
for (const name of ["online", "focus"]) addEventListener(name, wake);
document.addEventListener("visibilitychange", () => document.hidden || wake());
addEventListener("submit", async (event) => {
  const { target: form, submitter } = event;
  if (!("draft" in form.dataset) || form === sending) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (form === asking) return;
  asking = form;
  if (form !== sendingAgain) sends.set(form, 0);
  pressed.set(form, submitter);
  states.get(form).keep().catch(() => {});
  const isThere = await answers();
  asking = 0;
  document.getElementById("unsent")?.remove();
  if (isThere) {
    sending = form;
    form.requestSubmit(submitter);
    sending = 0;
    return;
  }
  const told = Object.assign(document.createElement("p"), { id: "unsent", className: "warning", role: "alert" });
  const where = lost.has(form) ? translate("Your text is in this form alone")
    : translate("Your text is kept in this browser");
  told.textContent = translate("Nothing was saved yet, because Synaptic cannot be reached. %(where)s, and is sent by itself once it can be, or when you press “%(button)s” again.", { where, button: submitter?.textContent.trim() });
  (form.querySelector(".actions") ?? form).prepend(told);
  wait();
}, true);

export const hide = (name, value) => Object.assign(document.createElement("input"), { type: "hidden", name, value });
const areUntouched = [];
const isTyped = () => areUntouched.some((isUntouched) => !isUntouched());
const living = new Map(); // other tabs, and whether something is typed there
others.onmessage = ({ data }) => {
  if (data.asks) others.postMessage({ is: tab, isTyped: isTyped() });
  else living.set(data.is, data.isTyped);
};
const askTabs = () => {
  living.clear();
  others.postMessage({ asks: true });
  return new Promise((go) => setTimeout(go, 150)); // in which they answer
};
const begin = async () => {
  await takeOver();
  const drafts = await readAll();
  const saved = drafts.filter(([, draft]) => isSaved(draft));
  if (saved.length) await drop(saved);
  const refused = [...forms].flatMap(({ dataset }) => (dataset.refused ?? "").split(" "));
  const answered = drafts.filter(([, { number, version }]) => refused.includes(`${number}-${version}`));
  answered.forEach(([, draft]) => (draft.sends = null));
  if (answered.length) await change((store) => answered.forEach(([name, draft]) => store.put(draft, name)));
  return drafts.filter((draft) => !saved.includes(draft));
};
const begun = begin();
const copied = begun.then(askTabs) // the browser may have made this tab of another
  .then(() => living.has(tab) && (tab = newTab()));

for (const form of forms) {
  const told = form.querySelector("#kept"), discard = form.querySelector("#discard");
  const label = discard?.textContent;
  const base = person + form.dataset.draft;
  const load = draw(), here = `${base}#${load}`, { refused } = form.dataset;
  // `taken` are the versions of a refused form, and of drafts that were gone on with
  let number = load, version = 0, taken = refused ?? "", brought = here;
  const versions = hide("versions");
  form.elements.csrf.after(versions); // a field is named append
  const own = (one) => one.name && one.type !== "file" && !["csrf", "back", "versions"].includes(one.name);
  const values = (of = form) => [...of.elements].filter(own).map((one) => [one.name, one.value]);
  const clean = form.cloneNode(true); // something may be typed already
  clean.reset();
  const first = refused != null || JSON.stringify(values(clean)); // it may be the only copy
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
  let telling = false;
  const tell = () => form.querySelectorAll("textarea").forEach((area) => {
    telling = true;
    area.dispatchEvent(new Event("input", { bubbles: true }));
    telling = false;
    window.htmx?.trigger(area, "draft");
  });
  const keep = async (news) => {
    const draft = { at: Date.now(), tab, number, version, taken, values: values() };
    draft.sends = pressed.has(form) ? sends.get(form) : null;
    versions.value = `${taken} ${number}-${version}`;
    const isEmpty = isUntouched();
    await begun; // which reads the draft that this one replaces
    if (isSaved(draft)) return;
    await change((store) => {
      if (isEmpty) store.delete(here);
      else store.put(draft, here);
      if (brought !== here) store.delete(brought);
      brought = here;
    });
    if (draft.version !== version) return;
    if (!isEmpty) thrown = null;
    if (!thrown) say(isEmpty ? "" : news ?? translate("Draft kept in this browser"), news);
  };
  const type = () => {
    if (form !== asking) withdraw(form); // a text that grows is sent as a whole
    if (number !== load) taken += ` ${number}-${version}`;
    number = load;
    version += 1;
    return keep();
  };
  const bring = async (name, draft) => {
    const { values: pairs } = draft;
    const isOlder = pairs.some(([key, value]) => key === "seen" && value !== form.elements.seen?.value);
    for (const [key, value] of pairs) {
      const field = key === "draft" ? null : form.elements[key];
      if (field) {
        const fold = field.value === value ? null : field.closest("details");
        if (fold) fold.open = true;
        field.value = value;
      }
      else form.elements.csrf.after(hide(key, value));
    }
    tell();
    ({ number = load, version = 0, taken = "" } = draft);
    brought = name;
    if ((draft.sends ?? MOST_SENDS) < MOST_SENDS && !isOlder) { // Save was pressed
      sends.set(form, draft.sends);
      pressed.set(form, form.querySelector("button:not([type])"));
      shallSend = true;
    }
    const news = isOlder ? translate("Your draft is here again. The text changed meanwhile: a save shows both.")
      : translate("Your draft is here again.");
    if (draft.tab === tab) say(news, true); // another tab may be a copy of this one
    else await keep(news);
  };
  const find = (drafts, isWanted) => drafts
    .filter(([name, draft]) => name.startsWith(`${base}#`) && isWanted(draft.tab))
    .sort(([, one], [, other]) => other.at - one.at)[0];

  let shallSend = false; // once no other tab turns out to have it
  const look = async () => {
    const drafts = await begun;
    const own = find(drafts, (one) => one === tab);
    if (own && refused != null) [brought] = own;
    else if (own && isUntouched()) await bring(...own);
    if (await copied) {
      withdraw(form); // the other tab sends it
      brought = here;
      if (!isUntouched()) await keep();
    }
    const left = isUntouched() && find(drafts, (one) => one !== tab && !living.has(one));
    if (left) await bring(...left);
    if (shallSend && pressed.has(form) && !asking) sendAgain(form, pressed.get(form));
  };
  states.set(form, { keep, isSaved: () => isSaved({ number, version }) });
  look();
  if (!isUntouched()) type();
  addEventListener("load", () => form.querySelectorAll("textarea").forEach((area) => {
    if (area.value) window.htmx?.trigger(area, "draft");
  }));
  form.addEventListener("input", () => {
    if (!telling) type().then(() => lost.delete(form), () => lost.add(form));
  });
  form.addEventListener("submit", () => {
    asking = form;
    lost.delete(form);
    sends.set(form, sends.get(form) + 1);
    keep(); // it may be refused
    form.inert = true; // until the answer
  });
  addEventListener("pageshow", () => { if (isSaved({ number, version })) location.reload(); });
  discard?.addEventListener("click", () => {
    const back = thrown;
    thrown = back ? null : values();
    if (back) bring(here, { number, version, taken, values: back });
    else {
      form.querySelectorAll("input[name=draft]").forEach((one) => one.remove());
      form.reset();
      tell();
      drop([[here], [brought]]);
      say(translate("Thrown away."));
    }
    form.querySelector("textarea:not([readonly])").focus();
  });
}
const free = () => {
  asking = 0;
  forms.forEach((form) => (form.inert = false));
  for (const form of pressed.keys()) {
    withdraw(form);
    states.get(form).keep();
  }
};
addEventListener("pageshow", ({ persisted }) => persisted && free());
window.navigation?.addEventListener("navigateerror", free); // a save was stopped
// A text that cannot be kept is not left without a question.
addEventListener("beforeunload", (event) => { if (lost.size) event.preventDefault(); });
const leave = document.querySelector("form.leave");
leave?.addEventListener("submit", async (event) => {
  event.preventDefault();
  await askTabs();
  await readAll().then((drafts) => drop(drafts.filter(([, draft]) => !living.get(draft.tab))))
    .catch(() => {}); // a browser that stores nothing can log out, too
  if ([...living.values()].includes(true)) leave.append(hide("keeps", "drafts")); // else all is emptied
  leave.submit();
});
