// The texts of the scripts in the language of the page: English is the key, base.html has the rest.
const catalogue = JSON.parse(document.querySelector("meta[name=texts]")?.content ?? "{}");
export const translate = (text, values = {}) =>
  (catalogue[text] ?? text).replace(/%\((\w+)\)s/g, (whole, name) => values[name] ?? whole);

export const make = (tag, values) => Object.assign(document.createElement(tag), values);

// What Synaptic answers, or what to say if it does not; without a body it is a GET.
export const ask = async (address, body, wait) => {
  const signal = wait && AbortSignal.timeout(wait);
  const asked = { method: body ? "POST" : "GET", body, signal, headers: { "HX-Request": "true" } };
  const answer = await fetch(address, asked).catch(() => null);
  const text = answer ? await answer.text() : translate("Synaptic does not answer.");
  return { status: answer?.status, ok: answer?.ok, text };
};
