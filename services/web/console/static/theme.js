// Light, dark, or as the system says; comfortable or dense. Kept in this browser. Runs before the page is painted.
(() => {
  const root = document.documentElement;
  const choices = { theme: ["", "light", "dark"], density: ["", "dense"] };
  const words = { theme: { "": "Theme: system", light: "Theme: light", dark: "Theme: dark" },
                  density: { "": "Density: roomy", dense: "Density: dense" } };
  const read = (name) => { try { return localStorage.getItem(name) || ""; } catch { return ""; } };
  const put = (name, value) => { root.dataset[name] = value; };
  for (const name in choices) put(name, read(name));
  addEventListener("DOMContentLoaded", () => {
    for (const name in choices) {
      const button = document.getElementById(name);
      if (!button) continue;
      const label = () => { button.textContent = words[name][root.dataset[name]] || words[name][""]; };
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
