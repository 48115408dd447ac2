// Rewrites each <time data-show> for the viewer's zone; without this module it says UTC.
import { locale } from "./texts.js";

const forms = {
  day: { dateStyle: "medium" },
  minute: { dateStyle: "medium", timeStyle: "short" },
  second: { dateStyle: "medium", timeStyle: "medium" },
};
const formats = Object.fromEntries(Object.entries(forms).map(([name, form]) => [name, new Intl.DateTimeFormat(locale, form)]));

export function showTimes(within) {
  for (const time of within.querySelectorAll("time[data-show]")) {
    const at = new Date(time.dateTime);
    if (isNaN(at)) continue;
    time.title = time.dateTime;
    time.textContent = formats[time.dataset.show].format(at);
  }
}

showTimes(document);
addEventListener("swapped", () => showTimes(document.getElementById("main")));
