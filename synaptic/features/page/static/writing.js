import { translate } from "/static/texts.js";
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
    const items = [whole.slice(indent.length) || "- ", ""];
    const tasks = [`${bullet} [${state}] `, `${bullet} `];
    return indent + (isTask ? tasks : items)[Number(isOff)] + line.slice(whole.length);
  }).join("\n");
  insert(area, text, from, to);
  const moved = text.length - (to - from);
  const isCaret = selectionStart === selectionEnd;
  area.setSelectionRange(isCaret ? Math.max(from, selectionStart + moved) : from,
    isCaret ? Math.max(from, selectionStart + moved) : to + moved);
};

// What is selected stands between these signs, or no longer; a caret at their end leaves them.
const surround = (before, after) => (area) => {
  const { value, selectionStart, selectionEnd } = area;
  const count = (sign) => value.slice(startOfLine(area), selectionStart).split(sign).length;
  const isWithin = before === after ? count(before) % 2 === 0 : count(before) > count(after);
  const words = value.slice(selectionStart, selectionEnd);
  const inner = words.trim();
  const from = selectionStart + words.indexOf(inner);
  const to = from + inner.length;
  const [left, right] = [from - before.length, to + after.length];
  const isOff = value.slice(left, from) === before && value.slice(to, right) === after;
  if (!words && !isOff && isWithin && value.startsWith(after, to)) {
    area.setSelectionRange(right, right);
    return;
  }
  if (isOff) insert(area, inner, left, right);
  else insert(area, before + inner + after, from, to);
  const at = isOff ? left : from + before.length;
  area.setSelectionRange(at, at + inner.length);
  area.dispatchEvent(new Event("input", { bubbles: true })); // the caret moved
};

// The text becomes another one; only what differs is inserted.
const become = (area, text) => {
  const { value } = area;
  const most = Math.min(value.length, text.length);
  let [from, end] = [0, 0];
  while (from < most && value[from] === text[from]) from += 1;
  while (end < most - from && value.at(-1 - end) === text.at(-1 - end)) end += 1;
  insert(area, text.slice(from, text.length - end), from, value.length - end);
};

// In the line of a task a day is the one on which it is due, which the server writes as the note
// writes it.
const date = async (area, day) => {
  const { value, selectionStart: at, form } = area;
  const line = value.slice(startOfLine(area), at);
  let answer = { status: 204 };
  if (ITEM.exec(line)[2]) {
    const { path } = JSON.parse(area.getAttribute("hx-vals"));
    const csrf = form.elements.csrf.value;
    const values = { csrf, before: value.slice(0, at), after: value.slice(at), day, path };
    const asked = { method: "POST", body: new URLSearchParams(values), headers: { "HX-Request": "true" } };
    answer = await fetch("/due", asked).catch(() => null);
  }
  if (answer?.status === 204) insert(area, (/\S$/.test(line) ? " " : "") + day);
  else if (answer?.ok) become(area, await answer.text());
  else {
    const told = form.querySelector(".added");
    told.textContent = answer ? await answer.text() : translate("Synaptic does not answer.");
  }
};
const MARKS = {
  bold: surround("**", "**"),
  list: mark(false),
  task: mark(true),
  link: surround("[[", "]]"),
  private: surround("<private>", "</private>"),
};
const iso = (days) => {
  const now = new Date();
  const day = new Date(Date.UTC(now.getFullYear(), now.getMonth(), now.getDate() + days));
  return day.toISOString().slice(0, 10);
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
    const menu = row.querySelector("details[open]");
    if (menu) menu.open = false;
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
    if (event.inputType === "insertLineBreak" && !event.isComposing && goOn(area)) {
      event.preventDefault();
    }
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
