// A template of the vault is inserted at the caret of its form.
import { ask, translate } from "/static/texts.js";
import { insert } from "/static/writing.js";
addEventListener("click", async ({ target }) => {
  const { form, dataset } = target.closest("[data-template]") ?? {};
  if (!form) return;
  const text = form.querySelector("textarea:not([readonly])");
  const values = ["title", "date", "time"].map((name) => [name, form.elements[name]?.value ?? ""]);
  const asked = new URLSearchParams([...values, ["name", dataset.template]]);
  if (text.dataset.title) asked.set("title", text.dataset.title);
  const { ok, text: reply } = await ask(`/template?${asked}`);
  text.focus();
  if (ok) insert(text, reply);
  target.closest("details").open = false;
  form.querySelector(".added").textContent = ok
    ? translate("Inserted %(name)s.", { name: dataset.template }) : reply;
});
