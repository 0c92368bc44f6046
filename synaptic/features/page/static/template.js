// A template of the vault is inserted at the caret of its form.
import { translate } from "/static/texts.js";
import { insert } from "/static/writing.js";
addEventListener("click", async ({ target }) => {
  const { form, dataset } = target.closest("[data-template]") ?? { dataset: {} };
  if (!form) return;
  const text = form.querySelector("textarea:not([readonly])");
  const values = ["title", "date", "time"].map((name) => [name, form.elements[name]?.value ?? ""]);
  const asked = new URLSearchParams([...values, ["name", dataset.template]]);
  if (text.dataset.title) asked.set("title", text.dataset.title);
  const headers = { "HX-Request": "true" };
  const answer = await fetch(`/template?${asked}`, { headers }).catch(() => null);
  const reply = answer ? await answer.text() : translate("Synaptic does not answer.");
  if (answer?.ok) {
    text.focus();
    insert(text, reply);
  }
  target.closest("details").open = false;
  text.focus();
  form.querySelector(".added").textContent = answer?.ok
    ? translate("Inserted %(name)s.", { name: dataset.template }) : reply;
});
