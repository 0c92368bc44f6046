// A file that is dropped, pasted or picked is stored with the draft; the text links to it.
import { ask, translate } from "/static/texts.js";
import { addHidden } from "/static/drafts.js";
import { insert } from "/static/writing.js";
for (const text of document.querySelectorAll(".box textarea")) {
  const { form } = text;
  const news = form.querySelector(".added");
  let waiting = 0, sender, turn = Promise.resolve();
  const link = (words) => { // on lines of its own
    const [ends] = /\n{0,2}$/.exec(text.value.slice(0, text.selectionStart) || "\n\n");
    insert(text, `${"\n\n".slice(ends.length)}${words}\n`);
  };
  const store = async (file) => {
    const body = new FormData();
    body.append("csrf", form.elements.csrf.value);
    body.append("files", file);
    const { ok, text: reply } = await ask("/draft", body);
    if (/\.(enex|zip|md)$/i.test(file.name)) news.nextElementSibling.hidden = false;
    if (ok) {
      const [, name] = /\(draft:([^)]+)\)/.exec(reply);
      addHidden(form, "draft", name); // the save ends it
      link(reply);
    }
    else {
      const values = { file: file.name, reason: reply.replaceAll("`", "") };
      news.append(translate("“%(file)s” was not added. %(reason)s", values), " ");
    }
  };
  const add = (files) => {
    news.textContent = "";
    waiting += files.length;
    form.ariaBusy = "true";
    for (const file of files) turn = turn.then(() => store(file)).finally(end);
  };
  const end = () => {
    waiting -= 1;
    if (waiting) return;
    form.ariaBusy = null;
    if (sender && !news.textContent) form.requestSubmit(sender);
    sender = null;
  };
  for (const input of form.querySelectorAll("input[type=file]")) {
    input.classList.add("hidden"); // the label is the button
    input.addEventListener("change", () => {
      add([...input.files]);
      input.value = "";
    });
  }
  const take = (event) => {
    const { files } = event.dataTransfer ?? event.clipboardData;
    if (!files.length) return;
    event.preventDefault();
    event.stopPropagation();
    add([...files]);
  };
  form.addEventListener("drop", take, true);
  form.addEventListener("paste", take, true);
  form.addEventListener("dragover", (event) => event.preventDefault());
  form.addEventListener("submit", (event) => { // a save waits for its files
    if (!waiting) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    sender = event.submitter;
  }, true);
  addEventListener("beforeunload", (event) => waiting && event.preventDefault());
}
