// Shows the draft that the agent was asked for once it is there; what a person writes meanwhile stays.
async function look() {
  const asked = document.querySelector("#suggestion[data-state=writing]");
  if (!asked || document.hidden) return;
  const answer = await fetch(asked.dataset.place, { credentials: "same-origin" }).catch(() => null);
  if (!answer?.ok) return;
  const next = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("suggestion");
  if (next.dataset.state === "writing" || !asked.isConnected) return;
  asked.replaceWith(next);
  document.getElementById("announce").textContent = next.querySelector("[role]").textContent.trim();
}

setInterval(look, 1500);
