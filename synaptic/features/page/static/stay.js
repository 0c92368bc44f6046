// Lets this browser in again by a key of two halves: a cookie, and a secret that only this
// origin can read. Each login gives both anew.
const leave = document.querySelector("form[action='/logout']");
const offer = document.getElementById("stay");
const ended = document.getElementById("ended");

const keep = async (answer) => localStorage.setItem("stay", (await answer.json()).secret);

// One tab after the other: the next one finds this one's key. Plain http has no locks;
// there the newer key of another tab stays.
const inTurn = (go) => (navigator.locks ? navigator.locks.request("stay", go) : go());
const ask = (name, value) => fetch("/login", { method: "POST", headers: { [name]: value } });

const comeBack = () => inTurn(async () => {
  const secret = localStorage.getItem("stay");
  if (!secret) return;
  const answer = await ask("X-Synaptic-Device", secret);
  if (answer.status === 401 && localStorage.getItem("stay") === secret) {
    localStorage.removeItem("stay");
  }
  if (!answer.ok) return;
  await keep(answer);
  const wanted = (ended ?? location).hash.slice(1);
  location.replace(location.origin + (wanted.startsWith("/") ? wanted : "/"));
});

const letIn = async (code) => {
  history.replaceState(null, "", "/login");
  const answer = await ask("X-Synaptic-Phone", code);
  if (answer.ok) {
    await keep(answer);
    location.replace("/");
  } else document.getElementById("code").textContent = (await answer.json()).error;
};

if (ended) comeBack();
else if (location.pathname === "/login") {
  const code = location.hash.match(/^#phone=(.+)/);
  if (code) letIn(decodeURIComponent(code[1]));
  else comeBack();
}
if (leave) {
  navigator.serviceWorker?.register("/static/sw.js", { scope: "/" });
  leave.addEventListener("submit", () => localStorage.removeItem("stay"));
}
if (offer) {
  offer.hidden = false;
  offer.addEventListener("submit", async (event) => {
    event.preventDefault();
    const body = new URLSearchParams(new FormData(offer));
    const answer = await fetch("/devices", { method: "POST", body });
    if (answer.ok) await keep(answer);
    location.replace(answer.ok ? "/" : "/devices");
  });
}
