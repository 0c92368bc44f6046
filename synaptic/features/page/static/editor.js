// A textarea with data-markdown is edited in CodeMirror, in a shadow root for the CSP.
import * as code from "/static/codemirror-6.43.15.min.js";

const dress = (area) => {
  const { EditorView, tags } = code;
  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "open", delegatesFocus: true });
  const label = area.labels[0];
  let echo = false;
  const told = ({ docChanged, state }) => {
    const { from, to } = state.selection.main;
    echo = true;
    if (docChanged) area.value = state.doc.toString();
    area.setSelectionRange(from, to);
    if (docChanged) area.dispatchEvent(new Event("input", { bubbles: true }));
    echo = false;
  };
  const send = () => !area.form.requestSubmit(area.form.querySelector(".primary"));
  const look = code.HighlightStyle.define([
    { tag: [tags.heading, tags.strong], fontWeight: "700" },
    { tag: [tags.heading, tags.link, tags.url, tags.monospace], color: "var(--accent)" },
    { tag: [tags.processingInstruction, tags.quote], color: "var(--soft)" },
  ]);
  const extensions = [
    code.keymap.of([
      { key: "Mod-Enter", run: send },
      { key: "Escape", run: (view) => !view.contentDOM.blur() },
      { key: "Enter", run: code.insertNewlineContinueMarkup },
      ...code.defaultKeymap,
      ...code.historyKeymap,
    ]),
    code.history(),
    code.markdownLanguage.extension,
    code.syntaxHighlighting(look),
    EditorView.lineWrapping,
    EditorView.perLineTextDirection.of(true),
    EditorView.updateListener.of(told),
    EditorView.contentAttributes.of({ "aria-label": label.textContent, spellcheck: "true" }),
    EditorView.theme({
      "&, .cm-scroller, .cm-content": { minHeight: "inherit" }, // a click below the text is one into it
      ".cm-content": { font: ".9375rem/1.55 var(--mono)", caretColor: "var(--ink)" },
      "&.cm-focused": { outline: "0" },
    }),
  ];
  const view = new EditorView({ doc: area.value, extensions, root, parent: root });
  area.addEventListener("input", () => {
    const changes = { from: 0, to: view.state.doc.length, insert: area.value };
    if (!echo) view.dispatch({ changes, selection: { anchor: area.selectionEnd } });
  });
  host.addEventListener("keydown", (event) => {
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
  });
  host.className = "editor";
  host.tabIndex = 0;
  area.after(host);
  if (document.activeElement === area) view.focus();
  area.focus = () => view.focus();
  area.hidden = true;
  area.required = false;
  label.htmlFor = "";
  label.addEventListener("click", () => view.focus());
};
document.querySelectorAll("[data-markdown]").forEach(dress);
