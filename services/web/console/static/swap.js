// Links and forms marked data-swap replace <main> with that of the answer. Without this module they load the page.
// What went wrong is said above the page, which stays as it is: nothing that a person wrote is lost.
import { said } from "./texts.js";

const announce = (words) => { document.getElementById("announce").textContent = words; };
let number = 0;

function complain(words) {
  document.getElementById("problem")?.remove();
  const note = Object.assign(document.createElement("p"), { id: "problem", className: "note bad", textContent: words });
  note.setAttribute("role", "alert");
  document.getElementById("main").prepend(note);
  note.scrollIntoView({ block: "nearest" });
}

// A page that came in place of a redirect keeps what was written; files that were chosen no server can give back.
function keepFiles(main, next) {
  for (const one of main.querySelectorAll("input[type=file][id]")) {
    const same = one.files.length && next.querySelector(`#${CSS.escape(one.id)}`);
    if (same) same.files = one.files;
  }
}

// The same page again keeps what was typed in it, but for the form that was sent.
function keepWords(main, next, sent) {
  for (const one of main.querySelectorAll("textarea[id]")) {
    const same = one.form !== sent && one.value !== one.defaultValue && next.querySelector(`#${CSS.escape(one.id)}`);
    if (!same) continue;
    same.value = one.value;
    same.closest("details")?.setAttribute("open", "");
  }
}

function show(page, address, kept, unsent, sent) {
  const main = document.getElementById("main");
  const next = page.getElementById("main");
  const focused = document.activeElement?.id;
  if (unsent) keepFiles(main, next);
  if (new URL(address).pathname === location.pathname) keepWords(main, next, sent);
  document.title = page.title;
  main.replaceWith(next);
  for (const link of document.querySelectorAll(".top nav a")) {
    const same = page.querySelector(`.top nav a[href="${link.getAttribute("href")}"]`);
    same?.hasAttribute("aria-current") ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
  }
  history[kept ? "replaceState" : "pushState"](null, "", address);
  const again = focused && next.querySelector(`#${CSS.escape(focused)}`);
  (again || next).focus({ preventScroll: Boolean(again) });
  announce(next.querySelector("[role=status], [role=alert], h1")?.textContent.trim() || "");
  dispatchEvent(new Event("swapped"));
}

export async function load(address, options = {}, kept = false, sent = null) {
  const mine = ++number;
  document.body.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(address, { credentials: "same-origin", ...options });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (mine !== number) return;
    const refused = !answer.ok && !(answer.status === 409 && page.querySelector("#main .split"));
    if (answer.status === 401) complain(said("session over"));
    else if (refused && options.method) complain(page.querySelector("#main [role=alert]")?.textContent || said("not done"));
    else {
      const unsent = Boolean(options.method) && !answer.redirected;
      show(page, unsent ? location.href : answer.url, kept || Boolean(options.method), unsent, sent); // a form's address is no page
    }
  } catch {
    if (mine === number) complain(said("not done, silent"));
  } finally {
    if (mine === number) document.body.removeAttribute("aria-busy");
  }
}

const plain = (event) => event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-swap]");
  if (!link || plain(event)) return;
  event.preventDefault();
  load(link.href);
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("form[data-swap]")) return;
  event.preventDefault();
  const data = new FormData(form, event.submitter);
  const fields = form.enctype === "multipart/form-data" ? data : new URLSearchParams(data);
  if (form.method === "get") { load(`${form.action}?${fields}`); return; }
  const buttons = form.querySelectorAll("button");
  buttons.forEach((one) => { one.disabled = true; });
  const action = event.submitter?.hasAttribute("formaction") ? event.submitter.formAction : form.action;
  load(action, { method: "POST", body: fields }, false, form).finally(() => buttons.forEach((one) => { one.disabled = false; }));
});

function follow() {
  const waiting = document.querySelector("[data-load]");
  if (waiting) load(waiting.dataset.load, {}, true);
}

addEventListener("popstate", () => load(location.href, {}, true));
addEventListener("swapped", follow);
follow();
