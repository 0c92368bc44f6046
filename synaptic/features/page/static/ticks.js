// A tick below a note goes to the task of its words.
const letters = (part) => {
  const copy = part.cloneNode(true);
  copy.querySelectorAll("ul, ol, .tick").forEach((inner) => inner.remove());
  return copy.textContent.replace(/[^\p{L}\p{N}]/gu, "");
};
for (const tick of document.querySelectorAll(".ticks .tick")) {
  const signs = [...tick.closest(".entry").querySelectorAll(".md-task")];
  const sign = signs.find((one) => letters(one.closest("li")) === letters(tick));
  if (sign) tick.closest("li").hidden = true;
  sign?.replaceWith(tick);
}
