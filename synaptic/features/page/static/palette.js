// Ctrl+K opens a palette: pages of the menu, and what the server finds by beginnings of words.
import { translate } from "/static/texts.js";
const menu = document.querySelector(".top");
const box = document.createElement("dialog");
box.className = "palette";
box.ariaLabel = translate("Go to");
box.innerHTML = `<input role="combobox" aria-expanded="true" aria-controls="places"
  aria-autocomplete="list" autocomplete="off" spellcheck="false">
  <div id="places" role="listbox"></div>`;
const [field, list] = box.children;
field.ariaLabel = translate("An entry, note, tag, folder, day or page");
field.placeholder = translate("Go to …");
list.ariaLabel = translate("Places");
let asked = 0;

const options = () => [...list.children];
const choose = (at) => {
  const all = options();
  const next = all[(at + all.length) % all.length];
  for (const one of all) one.ariaSelected = one === next ? "true" : "false";
  field.setAttribute("aria-activedescendant", next?.id ?? "");
  next?.scrollIntoView({ block: "nearest" });
};
const chosen = () => options().findIndex((one) => one.ariaSelected === "true");
const pages = (typed) => {
  const found = new Map();
  for (const link of document.querySelectorAll(".top nav a[href]")) {
    const name = link.textContent.trim();
    const fits = ` ${name.toLowerCase()}`.includes(` ${typed.toLowerCase()}`);
    if (fits && name && !found.has(link.href)) found.set(link.href, name);
  }
  return [...found].map(([href, name], number) => {
    const option = document.createElement("a"), what = document.createElement("small");
    Object.assign(option, { href, role: "option", tabIndex: -1, id: `page-${number}` });
    what.textContent = translate("page");
    option.append(name, " ", what);
    return option;
  });
};
const find = async () => {
  const turn = ++asked;
  const typed = field.value.trim();
  const headers = { "HX-Request": "true" };
  const answer = await fetch(`/palette?q=${encodeURIComponent(typed)}`, { headers });
  const text = await answer.text();
  if (answer.redirected) location.reload();
  if (turn !== asked || !answer.ok || answer.redirected) return;
  list.innerHTML = text;
  list.prepend(...pages(typed).slice(0, typed ? 4 : 10));
  choose(0);
};
field.addEventListener("input", find);
field.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) choose(chosen() + step);
  else if (event.key === "Enter") options()[chosen()]?.click();
  else return;
  event.preventDefault();
});
box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
if (menu) {
  document.body.append(box);
  const open = () => {
    box.showModal();
    field.select();
    find();
  };
  addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    box.open ? box.close() : open();
  });
  document.getElementById("go")?.addEventListener("click", open);
}

// On the page of search arrows walk the hits and Esc leaves the field.
const words = document.querySelector("#q");
const hits = () => [words, ...document.querySelectorAll(".hits h2 a")];
if (words) addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const at = hits().indexOf(document.activeElement);
  if (event.key === "Escape" && at === 0) words.blur();
  else if (step && at >= 0) hits()[at + step]?.focus();
  else return;
  event.preventDefault();
});
