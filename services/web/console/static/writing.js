// Tells colleagues that somebody writes in this thread, and shows who else does, while the page is looked at.
import { said } from "./texts.js";

const EVERY_MS = 10_000;
const root = document.body.dataset.root;
let typed = 0; // when
let told = 0;

async function ask() {
  const bar = document.getElementById("writing");
  if (!bar || document.hidden) return;
  const mine = Date.now() - typed < EVERY_MS * 2;
  told = Date.now();
  try {
    const answer = await fetch(`${root}/threads/${bar.dataset.thread}/writing${mine ? "?mine=1" : ""}`, { credentials: "same-origin" });
    if (!answer.ok) return;
    const { names } = await answer.json();
    const words = names.length ? said("writing", { names: names.join(", "), count: names.length }) : "";
    if (bar.textContent !== words) bar.textContent = words;
    bar.hidden = !words;
  } catch { /* the bar of what is live says that the console does not answer */ }
}

document.addEventListener("input", (event) => {
  if (!event.target.closest?.("#reply-form")) return;
  typed = Date.now();
  if (typed - told > EVERY_MS) ask();
});
setInterval(ask, EVERY_MS);
addEventListener("swapped", () => { typed = 0; ask(); });
