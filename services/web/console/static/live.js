// Says when a page is older than what it shows, by one stream for all tabs of this browser. Nothing moves by itself.
import { locale, said } from "./texts.js";

const status = document.getElementById("live");
const bar = document.getElementById("newer");
const channel = new BroadcastChannel("correspondent-live");
const clock = new Intl.DateTimeFormat(locale, { timeStyle: "short" });
const seen = { thread: new Map(), person: new Map(), investigation: new Map() }; // key -> number of its newest event
let heard = null;

const main = () => document.getElementById("main");

function look() {
  const { watch, watched } = main().dataset;
  const since = Number(main().dataset.seq || 0);
  const one = seen[watched]?.get(watch) || (!watched && (seen.thread.get(watch) || seen.person.get(watch))) || 0;
  const count = watch === "list" ? [...seen[watched || "thread"].values()].filter((seq) => seq > since).length : Number(one > since);
  bar.hidden = !watch || !count || !dispatchEvent(new Event("stale", { cancelable: true }));
  if (bar.hidden) return;
  const words = watch === "list" ? said("newer", { count }) : said("changed");
  const shown = bar.querySelector("span");
  if (shown.textContent !== words) shown.textContent = words;
  const here = new URL(location.href);
  here.searchParams.delete("done");
  bar.querySelector("a").href = here;
}

function take({ seq, changed }) {
  for (const kind in seen) for (const key in changed[kind]) seen[kind].set(key, Math.max(seq, seen[kind].get(key) || 0));
  beat(true);
  look();
}

function beat(alive) {
  if (alive) heard = new Date();
  const at = heard ? clock.format(heard) : "";
  status.textContent = alive ? said("live", { at }) : heard ? said("not live since", { at }) : said("not live");
  status.classList.toggle("on", alive);
}

function tell(message) {
  channel.postMessage(message);
  hear(message);
}

function hear(message) {
  if (message.kind === "changes") take(message);
  else if (message.kind === "beat") beat(true);
  else if (message.kind === "lost") beat(false);
}

channel.onmessage = ({ data }) => {
  if (data.kind !== "hello") hear(data);
  else if (source) for (const kind in seen) for (const [key, seq] of seen[kind]) channel.postMessage({ kind: "changes", seq, changed: { [kind]: { [key]: 0 } } });
};

let source = null;
function lead() {
  source = new EventSource(`${document.body.dataset.root}/live?after=${status.dataset.after}`);
  source.onmessage = (event) => tell({ kind: "changes", seq: Number(event.lastEventId), changed: JSON.parse(event.data) });
  source.addEventListener("beat", () => tell({ kind: "beat" }));
  source.onerror = () => tell({ kind: "lost" });
  return new Promise(() => {}); // for as long as this tab lives
}

addEventListener("swapped", look);
if (navigator.locks) { channel.postMessage({ kind: "hello" }); navigator.locks.request("correspondent-live", lead); } else lead();
