// Shows a page of its own while Synaptic is down. It keeps these files, and never an entry.
const KEPT = ["/offline", "/static/style.css", "/static/icon.svg"];

const fill = async () => {
  const kept = await caches.open("offline");
  await kept.addAll(KEPT.map((path) => new Request(path, { cache: "reload" })));
  await self.skipWaiting();
};
const answer = async (request, path) => {
  try {
    return await fetch(request);
  } catch (failed) {
    const kept = await caches.match(path);
    if (kept) return kept;
    throw failed;
  }
};

self.addEventListener("install", (event) => event.waitUntil(fill()));
self.addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request;
  const isPage = mode === "navigate" && method === "GET";
  const path = isPage ? KEPT[0] : new URL(url).pathname;
  if (KEPT.includes(path)) event.respondWith(answer(event.request, path));
});
