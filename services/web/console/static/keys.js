// A user's own single keys. They only move the focus: nothing is done without Enter.
import { load } from "./swap.js";

const help = document.getElementById("help");
const on = document.getElementById("keys-on");
const root = document.body.dataset.root;
const stored = () => { try { return localStorage.getItem("keys") !== "off"; } catch { return true; } };

on.checked = stored();
on.addEventListener("change", () => { try { localStorage.setItem("keys", on.checked ? "on" : "off"); } catch { /* for this page */ } });
const opener = document.getElementById("help-open");
opener.hidden = false;
opener.addEventListener("click", () => help.showModal());

function row(step) {
  const rows = [...document.querySelectorAll(".rows a.row")];
  const at = rows.indexOf(document.activeElement);
  const next = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + step))];
  next?.focus();
}

const boxOf = (row) => row?.closest("li")?.querySelector(".choose input");

function choose() {
  const box = boxOf(document.activeElement);
  if (box) box.checked = !box.checked;
}

// In a list the chosen rows, or the one that has the focus, are what an act is about.
function bulk(id) {
  const goal = document.getElementById(id);
  if (!goal) return false;
  const own = boxOf(document.activeElement);
  if (own && !document.querySelector(".choose input:checked")) own.checked = true;
  goal.focus();
  return true;
}

function edit() {
  const box = document.getElementById("edit");
  if (!box) return bulk("resolve");
  box.open = true;
  box.querySelector("textarea").focus();
}

const acts = {
  next: () => row(1),
  previous: () => row(-1),
  search: () => document.getElementById("q")?.focus(),
  inbox: () => load(`${root}/inbox`),
  draft: () => load(`${root}/drafts/next`),
  choose,
  edit,
  approve: () => (document.getElementById("approve") ?? document.getElementById("assignee"))?.focus() ?? bulk("bulk-assignee"),
  write: () => { const box = document.getElementById("write"); if (box) { box.open = true; document.getElementById("reply-text").focus(); } },
  snooze: () => document.getElementById("snooze")?.focus() ?? bulk("bulk-until"),
  note: () => document.getElementById("note")?.focus(),
  newer: () => document.querySelector("#newer:not([hidden]) a")?.click(),
  help: () => help.showModal(),
};
const byKey = new Map(Object.entries(JSON.parse(document.body.dataset.keys)));

addEventListener("keydown", (event) => {
  const types = event.getModifierState("AltGraph"); // it types a character, such as @
  if (!on.checked || help.open || (!types && (event.ctrlKey || event.metaKey || event.altKey))) return;
  if (event.target.closest?.("input, textarea, select, [contenteditable]")) return;
  const act = acts[byKey.get(event.key)];
  if (!act) return;
  event.preventDefault();
  act();
});
