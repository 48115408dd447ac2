// Adds the rounds of an investigation below those that are there, as they are taken. What came of it is shown when asked for.
addEventListener("stale", (event) => {
  if (document.getElementById("rounds")?.dataset.state !== "open") return;
  event.preventDefault();
  follow();
});

async function follow() {
  const answer = await fetch(location.href, { credentials: "same-origin" }).catch(() => null);
  const list = document.getElementById("rounds");
  if (!answer?.ok || !list) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = page.getElementById("rounds");
  if (!list.isConnected || !next) return;
  list.dataset.state = next.dataset.state;
  if (next.dataset.state === "open") {
    const fresh = [...next.children].filter((one) => !document.getElementById(one.id));
    list.append(...fresh);
    for (const id of ["cost", "files"]) {
      const old = document.getElementById(id);
      if (!old.contains(document.activeElement)) old.replaceWith(page.getElementById(id));
    }
    document.getElementById("main").dataset.seq = page.getElementById("main").dataset.seq;
    if (fresh.length) document.getElementById("announce").textContent = fresh.at(-1).querySelector("h3 a").textContent;
  }
  dispatchEvent(new Event("swapped")); // times in the viewer's zone, and the bar where it is over
}
