// Light, dark, or as the system says; comfortable or dense. Kept in this browser. Runs before the page is painted.
(() => {
  const root = document.documentElement;
  const choices = { theme: ["", "light", "dark"], density: ["", "dense"] };
  const read = (name) => { try { return localStorage.getItem(name) || ""; } catch { return ""; } };
  const put = (name, value) => { root.dataset[name] = value; };
  for (const name in choices) put(name, read(name));
  addEventListener("DOMContentLoaded", () => {
    const texts = JSON.parse(document.body.dataset.texts);
    for (const name in choices) {
      const button = document.getElementById(name);
      if (!button) continue;
      const label = () => { button.textContent = texts[`${name} ${root.dataset[name]}`.trim()] || texts[name]; };
      button.hidden = false;
      label();
      button.addEventListener("click", () => {
        const all = choices[name];
        const next = all[(all.indexOf(root.dataset[name]) + 1) % all.length];
        put(name, next);
        try { localStorage.setItem(name, next); } catch { /* it holds for this page */ }
        label();
      });
    }
  });
})();
