// [[ and # in a text box offer what the journal has: arrows choose, Enter or Tab takes, Esc closes.
import { ask, make, translate } from "/static/texts.js";
import { insert } from "/static/writing.js";
const ariaLabel = translate("Suggestions");
const box = make("div", { className: "complete", role: "listbox", ariaLabel, hidden: true });
const news = make("p", { className: "hidden", ariaLive: "polite" });
document.body.append(box, news);
const options = () => [...box.children];
let area, turn = 0, timer;

const begun = () => {
  const before = area.value.slice(0, area.selectionStart);
  return /\[\[([^[\]\n|#]{0,80})$/.exec(before) ?? /(?<!\S)#([^\s#,;"'`]{1,60})$/.exec(before);
};
const close = () => { box.hidden = true; turn++; clearTimeout(timer); };
const choose = (at) => {
  const all = options();
  const next = all[(at + all.length) % all.length];
  for (const one of all) one.ariaSelected = one === next;
  next.scrollIntoView({ block: "nearest" });
  const values = { name: next.innerText, at: all.indexOf(next) + 1, total: all.length };
  news.textContent = translate("%(name)s, %(at)s of %(total)s", values);
};
const take = (option) => {
  const typed = begun()?.[0] ?? "";
  const { value, selectionStart: at } = area;
  const text = option.dataset.insert;
  const isClosed = text.endsWith("]]") && value.startsWith("]]", at);
  insert(area, text, at - typed.length, at + (isClosed ? 2 : 0));
  close();
};
const offer = async () => {
  const match = begun();
  if (!match) return close();
  const mine = ++turn;
  const kind = match[0][0] === "#" ? "tag" : "link";
  const { ok, text } = await ask(`/complete?kind=${kind}&q=${encodeURIComponent(match[1])}`);
  if (mine !== turn || !ok) return;
  box.innerHTML = text;
  const n = options().length;
  if (!n) return close();
  area.after(box);
  box.hidden = false;
  news.textContent = translate("%(n)s suggestions", { n });
  if (kind === "link") choose(0); // Enter behind a tag is a new line, unless one was chosen
};
addEventListener("input", ({ target }) => {
  if (!target.matches?.("textarea:not([readonly])")) return;
  area = target;
  clearTimeout(timer);
  if (begun()) timer = setTimeout(offer, 80);
  else close();
});
addEventListener("keydown", (event) => {
  if (box.hidden || event.isComposing) return;
  const at = options().findIndex((one) => one.ariaSelected === "true");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) choose(at < 0 && step < 0 ? -1 : at + step);
  else if (event.key === "Escape") close();
  else if (event.key === "Tab" && !event.shiftKey) take(options()[Math.max(at, 0)]);
  else if (event.key === "Enter" && at >= 0 && !event.ctrlKey && !event.metaKey) take(options()[at]);
  else return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);
box.addEventListener("mousedown", (event) => {
  event.preventDefault(); // the text keeps the focus
  const option = event.target.closest("[role=option]");
  if (option) take(option);
});
addEventListener("focusout", ({ target }) => target === area && close());
