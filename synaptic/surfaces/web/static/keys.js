// A page works without this. With it a single key does what its data-key says: a link is followed, a button pressed.
"use strict";
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const near = document.activeElement?.closest("[data-keys]") ?? document;
  const key = `[data-key="${CSS.escape(event.key)}"]`;
  const found = near.querySelector(key) ?? document.querySelector(key);
  if (!found) return;
  event.preventDefault();
  if (found.matches("a, button")) found.click();
  else found.focus();
});
