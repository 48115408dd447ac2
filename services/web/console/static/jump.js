// Ctrl-K and ⌘K: a page, a person or a thread by its first characters. What is found is the page /jump, of which the list is shown here.
import { said } from "./texts.js";

const box = document.getElementById("jump");
const field = document.getElementById("jump-q");
const list = document.getElementById("jump-hits");
const status = document.getElementById("jump-status");
const PAUSE_MS = 120; // between the last letter and the question
let number = 0;
let waiting = 0;

const opener = document.getElementById("jump-open");
opener.hidden = false;
opener.addEventListener("click", open);

function open() {
  if (!box.open) box.showModal();
  field.select();
  find();
}

async function find() {
  const mine = ++number;
  try {
    const answer = await fetch(`${document.body.dataset.root}/jump?${new URLSearchParams({ q: field.value })}`, { credentials: "same-origin" });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (mine !== number) return;
    const hits = page.getElementById("hits");
    list.replaceChildren(...(hits ? hits.childNodes : [page.querySelector("#main p") ?? ""]));
    const count = list.querySelectorAll("a").length;
    status.textContent = said("found", { count });
  } catch {
    if (mine === number) list.replaceChildren(said("silent"));
  }
}

field.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(find, PAUSE_MS); });

box.querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  clearTimeout(waiting);
  await find(); // what stands there may be of fewer letters
  list.querySelector("a")?.click();
});

box.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { event.preventDefault(); box.close(); return; } // a search field would only empty itself
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const stops = [field, ...list.querySelectorAll("a")];
  stops[Math.min(stops.length - 1, Math.max(0, stops.indexOf(document.activeElement) + step))].focus();
});

box.addEventListener("click", (event) => { if (event.target === box) box.close(); });

addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  event.preventDefault();
  open();
});
