// A single key does what its data-key says while no field has the focus, within [data-keys] only
// while the focus is there, and none while a text is not saved. The foot lists the keys, and turns
// them off (WCAG 2.1.4).
import { translate } from "/static/texts.js";
const part = document.getElementById("keys");
const on = document.getElementById("keys-on");
const all = () => ["[data-keys]:focus-within ", "main ", ""]
  .flatMap((where) => [...document.querySelectorAll(`${where}[data-key]`)])
  .filter((one) => !one.closest("[data-keys]:not(:focus-within)"));
// A button's <kbd> is no part of its name, and a field's name is its label.
const nameOf = (one) => {
  const copy = (one.labels?.[0] ?? one).cloneNode(true);
  copy.querySelectorAll("kbd").forEach((kbd) => kbd.remove());
  return one.ariaLabel || copy.textContent.trim();
};
const isUnsaved = () => [...document.querySelectorAll("form[data-draft] :is(input, textarea)")]
  .some((field) => field.value !== field.defaultValue);

document.addEventListener("keydown", (event) => {
  const field = event.target.closest("input, textarea, select, [contenteditable]");
  const isHeld = event.ctrlKey || event.metaKey;
  if (field && event.key === "Enter" && isHeld) {
    field.form?.requestSubmit(field.form.querySelector("button:not([type=button])"));
  }
  if (field && event.key === "Escape" && field.type !== "search") field.blur();
  if (field || isHeld || event.altKey || event.isComposing || event.repeat) return;
  if (!on?.checked || isUnsaved()) return;
  const found = all().find((one) => one.dataset.key === event.key
    && (one.checkVisibility() || one.closest(".panel")));
  if (!found) return;
  event.preventDefault();
  found.focus();
  if (found.matches("a, button, summary")) found.click();
});

if (part) {
  part.hidden = false;
  on.checked = localStorage.getItem("keys") !== "off";
  on.addEventListener("change", () => localStorage.setItem("keys", on.checked ? "on" : "off"));
  part.addEventListener("toggle", () => {
    part.scrollIntoView({ block: "nearest" });
    const list = part.querySelector("ul");
    const names = new Map([[list.dataset.go, translate("Go to any entry, tag, day or page")]]);
    for (const one of all()) {
      if (!one.disabled && !names.has(one.dataset.key)) names.set(one.dataset.key, nameOf(one));
    }
    list.replaceChildren(...[...names].map(([key, name]) => {
      const item = document.createElement("li"), shown = document.createElement("kbd");
      shown.textContent = key;
      item.append(shown, name);
      return item;
    }));
  });
}
// Large type is a setting of this browser.
const large = document.getElementById("large");
const resize = () => document.documentElement.classList.toggle("large", large.checked);
if (large) {
  large.parentElement.hidden = false;
  large.checked = localStorage.getItem("type") === "large";
  resize();
  large.addEventListener("change", () => {
    if (large.checked) localStorage.setItem("type", "large");
    else localStorage.removeItem("type");
    resize();
  });
}
// A browser that goes back to a question loads it by its address, and does not send the form again.
if (document.querySelector("[name=agreed]")) history.replaceState(null, "", location.href);
// A menu closes by Esc and by a click elsewhere.
const close = (event) => document.querySelectorAll(".menu[open]").forEach((menu) => {
  if (event.key === "Escape" || !menu.contains(event.target)) menu.open = false;
});
for (const name of ["click", "focusin", "keydown"]) addEventListener(name, close);
// What scrolls is reached by the keyboard.
const scrolls = new ResizeObserver((sized) => {
  for (const { target } of sized) {
    target.tabIndex = target.scrollWidth > target.clientWidth ? 0 : -1;
  }
});
const watch = ({ target }) => target.querySelectorAll(".note pre, .note table")
  .forEach((one) => scrolls.observe(one));
watch({ target: document });
addEventListener("htmx:afterSwap", watch); // a preview
// A text is gone on with: what is typed or attached before any click stands at its end.
const box = document.querySelector("textarea[autofocus]");
box?.setSelectionRange(box.textLength, box.textLength);
