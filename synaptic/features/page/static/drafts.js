// What is typed into a form stays in this browser, for its person, form and tab, until it was
// saved or thrown away, or that person logs out, but for other open tabs. Another person finds an
// empty form; a tab finds the draft of one that is gone.
import { ask, make, translate } from "/static/texts.js";
const person = document.body.dataset.draft;
const others = new BroadcastChannel("drafts");
const draw = () => Math.random().toString(36).slice(2);
let { tab } = sessionStorage;
const newTab = () => (tab = sessionStorage.tab = draw());
tab ?? newTab();
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
  for (const name of Object.keys(localStorage).filter(isMine)) {
    const [title, content, date, time] = JSON.parse(localStorage[name]);
    const values = Object.entries({ title, content, date, time });
    await change((store) => store.put({ at: 0, values }, `${name}#`));
    localStorage.removeItem(name);
  }
};

// A text whose Save was pressed is sent once Synaptic answers, else the browser shows an error.
// Until then that is tried by itself, after longer and longer pauses and whenever someone looks.
const boxes = new Map(); // what is known of each form
const someBox = (is) => [...boxes.values()].some(is);
const pressed = new Map(); // forms whose text shall be sent, with the button, until one types
let asking, sending, timer, pause = 2e3;
const withdraw = (form) => {
  pressed.delete(form);
  form.querySelector(".unsent")?.remove();
};
const tryAgain = () => {
  clearTimeout(timer);
  const [[form, submitter] = []] = pressed;
  if (!form || asking) return;
  if (boxes.get(form).isSaved()) location.reload(); // by another tab
  else form.requestSubmit(submitter);
};
const wake = () => {
  pause = 2e3;
  if (!document.hidden) tryAgain();
};
for (const name of ["online", "focus", "visibilitychange"]) addEventListener(name, wake);
addEventListener("submit", async (event) => {
  const { target: form, submitter } = event;
  const box = boxes.get(form);
  if (!box || form === sending) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (form === asking) return;
  asking = form;
  pressed.set(form, submitter);
  box.keep().catch(() => {});
  const { status } = await ask("/preparing", null, 1e4);
  asking = 0;
  if (!pressed.has(form)) return;
  if (status) {
    if (status !== 401) withdraw(form); // else it is sent after the login
    sending = form;
    form.requestSubmit(submitter);
    sending = 0;
    return;
  }
  timer = setTimeout(tryAgain, pause);
  pause = Math.min(2 * pause, 6e4);
  if (form.querySelector(".unsent")) return;
  const where = box.isLost ? translate("Your text is in this form alone")
    : translate("Your text is kept in this browser");
  const textContent = translate("Nothing was saved yet, because Synaptic cannot be reached. %(where)s, and is sent by itself once it can be, or when you press “%(button)s” again.", { where, button: submitter?.textContent.trim() });
  const told = make("p", { className: "warning unsent", role: "alert", textContent });
  (form.querySelector(".actions") ?? form).prepend(told);
}, true);

export const addHidden = (form, name, value) => form.elements.csrf.before(
  make("input", { type: "hidden", name, value })); // a field is named append
const living = new Map(); // other tabs, and whether something is typed there
others.onmessage = ({ data }) => {
  const isTyped = someBox((box) => !box.isUntouched());
  if (data.asks) others.postMessage({ is: tab, isTyped });
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
  await drop(drafts.filter(([, draft]) => isSaved(draft)));
  return drafts.filter(([, draft]) => !isSaved(draft));
};
const begun = begin();
const copied = begun.then(askTabs) // the browser may have made this tab of another
  .then(() => living.has(tab) && newTab());

for (const form of document.querySelectorAll("form[data-draft]")) {
  const told = form.querySelector("#kept"), discard = form.querySelector("#discard");
  const label = discard?.textContent;
  const base = person + form.dataset.draft;
  const load = draw(), here = `${base}#${load}`, { refused } = form.dataset;
  // `taken` are the versions of a refused form, and of drafts that were gone on with
  let number = load, version = 0, taken = refused ?? "", brought = here;
  const values = (of = form) => [...new FormData(of)].filter(([name, value]) =>
    typeof value === "string" && !["csrf", "back", "versions"].includes(name));
  const clean = form.cloneNode(true); // something may be typed already
  clean.reset();
  const first = refused != null || JSON.stringify(values(clean)); // it may be the only copy
  const isUntouched = () => JSON.stringify(values()) === first;
  let thrown = null; // what was thrown away, until something else is typed
  const say = (words, isNews = false) => {
    if (!told) return;
    told.textContent = words;
    told.className = isNews ? "notice" : "soft";
    discard.hidden = !words;
    discard.textContent = thrown ? translate("Put it back") : label;
  };
  const areas = form.querySelectorAll("textarea");
  const preview = (area) => window.htmx?.trigger(area, "draft");
  const tell = () => areas.forEach((area) => {
    area.dispatchEvent(new CustomEvent("input", { bubbles: true, detail: "draft" }));
    preview(area);
  });
  const keep = async (news) => {
    const shallSend = pressed.has(form);
    const draft = { at: Date.now(), tab, number, version, taken, shallSend, values: values() };
    form.elements.versions.value = `${taken} ${number}-${version}`;
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
    // a text that grows while it waits is sent as a whole
    if (form !== asking || form.querySelector(".unsent")) withdraw(form);
    if (number !== load) taken += ` ${number}-${version}`;
    number = load;
    version += 1;
    return keep();
  };
  const bring = async (name, draft) => {
    const { seen } = Object.fromEntries(draft.values);
    const isOlder = seen !== form.elements.seen?.value;
    for (const [key, value] of draft.values) {
      const field = key === "draft" ? null : form.elements[key];
      if (field) {
        if (field.value !== value) field.closest("details")?.setAttribute("open", "");
        field.value = value;
      }
      else addHidden(form, key, value);
    }
    tell();
    ({ number = load, version = 0, taken = "" } = draft);
    brought = name;
    if (draft.shallSend && !isOlder) pressed.set(form, form.querySelector("button:not([type])"));
    const news = isOlder ? translate("Your draft is here again. The text changed meanwhile: a save shows both.")
      : translate("Your draft is here again.");
    if (draft.tab === tab) say(news, true); // another tab may be a copy of this one
    else await keep(news);
  };
  const look = async () => {
    const drafts = (await begun).filter(([name]) => name.startsWith(`${base}#`))
      .sort(([, one], [, other]) => other.at - one.at);
    const own = drafts.find(([, draft]) => draft.tab === tab);
    if (own && refused != null) [brought] = own;
    else if (own && isUntouched()) await bring(...own);
    if (await copied) {
      withdraw(form); // the other tab sends it
      brought = here;
      if (!isUntouched()) await keep();
    }
    const left = drafts.find(([, draft]) => draft.tab !== tab && !living.has(draft.tab));
    if (left && isUntouched()) await bring(...left);
    tryAgain();
  };
  const box = { keep, isUntouched, isSaved: () => isSaved({ number, version }), isLost: false };
  boxes.set(form, box); // `isLost`: this browser cannot keep it
  look();
  if (!isUntouched()) type();
  addEventListener("load", () => areas.forEach((area) => area.value && preview(area)));
  form.addEventListener("input", ({ detail }) => {
    if (detail !== "draft") type().then(() => (box.isLost = false), () => (box.isLost = true));
  });
  form.addEventListener("submit", () => {
    asking = form;
    box.isLost = false;
    keep(); // it may be refused
    form.inert = true; // until the answer
  });
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
  for (const form of boxes.keys()) {
    form.inert = false;
    withdraw(form); // someone looks at it
  }
};
addEventListener("pageshow", ({ persisted }) => {
  if (someBox((box) => box.isSaved())) location.reload();
  if (persisted) free();
});
window.navigation?.addEventListener("navigateerror", free); // a save was stopped
// A text that cannot be kept is not left without a question.
addEventListener("beforeunload", (event) => someBox((box) => box.isLost) && event.preventDefault());
const leave = document.querySelector("form.leave");
leave?.addEventListener("submit", async (event) => {
  event.preventDefault();
  await askTabs();
  await readAll().then((drafts) => drop(drafts.filter(([, draft]) => !living.get(draft.tab))))
    .catch(() => {}); // a browser that stores nothing can log out, too
  if ([...living.values()].includes(true)) addHidden(leave, "keeps", "drafts"); // else all is emptied
  leave.submit();
});
