// A page works without this. With it a single key does what its data-key says, while no field has the focus: a link is
// followed, a button pressed, a field focused. The foot lists the keys of the page, and turns them off (WCAG 2.1.4).
"use strict";
const part = document.getElementById("keys");
const on = document.getElementById("keys-on");
const all = () => [...(document.querySelector("main")?.querySelectorAll("[data-key]") ?? []), ...document.querySelectorAll("[data-key]")];

document.addEventListener("keydown", (event) => {
  if (!on?.checked || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const near = document.activeElement?.closest("[data-keys]");
  const its = all().filter((one) => one.dataset.key === event.key && one.checkVisibility());
  const found = its.find((one) => near?.contains(one)) ?? its[0];
  if (!found) return;
  event.preventDefault();
  if (found.matches("a, button, summary")) found.click();
  else found.focus();
});

if (part) {
  part.hidden = false;
  on.checked = localStorage.getItem("keys") !== "off";
  on.addEventListener("change", () => localStorage.setItem("keys", on.checked ? "on" : "off"));
  part.addEventListener("toggle", () => {
    const names = new Map();
    for (const one of all()) if (!names.has(one.dataset.key)) names.set(one.dataset.key, one.ariaLabel || one.labels?.[0]?.textContent || one.textContent);
    part.querySelector("ul").replaceChildren(...[...names].map(([key, name]) => {
      const item = document.createElement("li"), shown = document.createElement("kbd");
      shown.textContent = key;
      item.append(shown, name.trim());
      return item;
    }));
  });
}
// What scrolls within the page must be reached by the keyboard.
for (const one of document.querySelectorAll(".note pre, .note table")) if (one.scrollWidth > one.clientWidth) one.tabIndex = 0;
