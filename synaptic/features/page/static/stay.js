// Lets this browser in again by a key of two halves: a cookie, and a secret that only this
// origin can read. Each login gives both anew. The worker shows a page while Synaptic is down.
const leave = document.querySelector("form[action='/logout']");
const offer = document.getElementById("stay");

const keep = async (answer) => localStorage.setItem("stay", (await answer.json()).secret);

// One tab after the other: the next one finds the key that this one was given. A browser has
// locks, and is given a key, only in a secure context.
const comeBack = () => navigator.locks?.request("stay", async () => {
  const secret = localStorage.getItem("stay");
  if (!secret) return;
  const headers = { "X-Synaptic-Device": secret };
  const answer = await fetch("/login", { method: "POST", headers });
  if (answer.status === 401) localStorage.removeItem("stay");
  if (!answer.ok) return;
  await keep(answer);
  const wanted = location.hash.slice(1);
  location.replace(location.origin + (wanted.startsWith("/") ? wanted : "/"));
});

if (location.pathname === "/login") comeBack();
if (leave) {
  navigator.serviceWorker?.register("/static/sw.js", { scope: "/" });
  leave.addEventListener("submit", () => {
    localStorage.clear();
    sessionStorage.clear();
  });
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
