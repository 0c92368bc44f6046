// The texts of the scripts in the language of the page: English is the key, base.html has the rest.
const catalogue = JSON.parse(document.querySelector("meta[name=texts]")?.content ?? "{}");
export const translate = (text, values = {}) =>
  (catalogue[text] ?? text).replace(/%\((\w+)\)s/g, (whole, name) => values[name] ?? whole);
