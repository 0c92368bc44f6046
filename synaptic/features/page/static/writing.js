import { ask } from "/static/texts.js";
// The row below a text box, and lists that go on by Enter. Text enters as if it were typed, so
// that the browser's own undo takes it back.
export const insert = (area, text, from = area.selectionStart, to = area.selectionEnd) => {
  if (!text && from === to) return;
  if (document.activeElement === area) {
    area.setSelectionRange(from, to);
    if (document.execCommand(text ? "insertText" : "delete", false, text)) return;
  }
  area.setRangeText(text, from, to, "end");
  area.dispatchEvent(new Event("input", { bubbles: true }));
};
const ITEM = /^([\t >]*)(?:([-*+]|\d+[.)])[\t ]+(?:\[(.)\] )?)?/; // a list's, or a task
const startOfLine = (area) => area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;

// Each line that is selected becomes an item of a list, or a task; or none, if all were.
const mark = (isTask) => (area) => {
  const { value, selectionStart, selectionEnd } = area;
  const from = startOfLine(area);
  const to = `${value}\n`.indexOf("\n", selectionEnd);
  const lines = value.slice(from, to).split("\n");
  const isOff = lines.every((line) => !line || ITEM.exec(line)[isTask ? 3 : 2]) && to > from;
  const text = lines.map((line) => {
    const [whole, indent, bullet = "-", state = " "] = ITEM.exec(line);
    if (!line && lines.length > 1) return line;
    const on = isTask ? `${bullet} [${state}] ` : whole.slice(indent.length) || "- ";
    const off = isTask ? `${bullet} ` : "";
    return indent + (isOff ? off : on) + line.slice(whole.length);
  }).join("\n");
  insert(area, text, from, to);
  const moved = text.length - (to - from);
  const caret = Math.max(from, selectionStart + moved);
  if (selectionStart === selectionEnd) area.setSelectionRange(caret, caret);
  else area.setSelectionRange(from, to + moved);
};

// What is selected stands between these signs, or no longer; a caret at their end leaves them.
const surround = (before, after) => (area) => {
  const { value, selectionStart, selectionEnd } = area;
  const words = value.slice(selectionStart, selectionEnd);
  const inner = words.trim();
  const from = selectionStart + words.indexOf(inner);
  const to = from + inner.length;
  const [left, right] = [from - before.length, to + after.length];
  const isOff = value.slice(left, from) === before && value.slice(to, right) === after;
  if (!words && !isOff && value.startsWith(after, to)) return area.setSelectionRange(right, right);
  if (isOff) insert(area, inner, left, right);
  else insert(area, before + inner + after, from, to);
  const at = isOff ? left : from + before.length;
  area.setSelectionRange(at, at + inner.length);
  area.dispatchEvent(new Event("input", { bubbles: true })); // the caret moved
};

// In the line of a task a day is the one on which it is due. The server says how the note writes
// it, and from where to where; nothing if the line is no task.
const date = async (area, day) => {
  const { value, selectionStart: at, form } = area;
  const line = value.slice(startOfLine(area), at);
  const words = (/\S$/.test(line) ? " " : "") + day;
  if (!ITEM.exec(line)[2]) return insert(area, words);
  const { ok, text } = await ask("/due", new URLSearchParams({
    ...JSON.parse(area.getAttribute("hx-vals")), csrf: form.elements.csrf.value,
    day, before: value.slice(0, at), after: value.slice(at),
  }));
  if (ok) insert(area, ...(text ? JSON.parse(text) : [words]));
  else form.querySelector(".added").textContent = text;
};
const MARKS = {
  bold: surround("**", "**"),
  list: mark(false),
  task: mark(true),
  link: surround("[[", "]]"),
  private: surround("<private>", "</private>"),
};
const iso = (days) => {
  const day = new Date();
  day.setDate(day.getDate() + days);
  return day.toLocaleDateString("sv"); // Sweden's are ISO 8601
};
const goOn = (area) => {
  const { value, selectionStart: at } = area;
  const start = startOfLine(area);
  const [whole, indent, bullet, state] = ITEM.exec(value.slice(start, at));
  if (!bullet || at !== area.selectionEnd) return false;
  if (whole.length === at - start) { // an empty item ends the list, by a blank line
    insert(area, /[^\n]\n$/.test(value.slice(0, start)) ? "\n" : "", start, at);
  } else {
    const next = bullet.replace(/\d+/, (number) => Number(number) + 1);
    insert(area, `\n${indent}${next} ${state ? "[ ] " : ""}`);
  }
  return true;
};
for (const row of document.querySelectorAll(".marks")) {
  const area = row.parentElement.querySelector("textarea");
  const picked = row.querySelector("input[type=date]");
  const put = (act, ...values) => {
    row.querySelector("details[open]")?.removeAttribute("open");
    area.focus();
    act(area, ...values);
  };
  row.addEventListener("click", ({ target }) => {
    const { mark: name, days } = target.closest("button")?.dataset ?? {};
    if (name) put(MARKS[name]);
    else if (days) put(date, iso(Number(days)));
    else if (target === picked.nextElementSibling && picked.value) put(date, picked.value);
  });
  area.addEventListener("keydown", (event) => {
    const isBold = event.key.toLowerCase() === "b" && (event.ctrlKey || event.metaKey);
    if (!isBold || event.shiftKey || event.altKey) return;
    event.preventDefault();
    MARKS.bold(area);
  });
  area.addEventListener("beforeinput", (event) => {
    if (event.inputType === "insertLineBreak" && !event.isComposing && goOn(area)) event.preventDefault();
  });
}
// A keyboard that lies over the page, as on iOS, leaves the row of Save above it.
const seen = visualViewport;
const rise = () => {
  const { clientHeight, style } = document.documentElement;
  const covered = seen.scale === 1 ? Math.max(0, clientHeight - seen.height - seen.offsetTop) : 0;
  style.setProperty("--keyboard", `${covered}px`);
};
for (const name of ["resize", "scroll"]) seen.addEventListener(name, rise);
