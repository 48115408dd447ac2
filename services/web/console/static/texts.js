// What modules say, in the page's language, and the locale in which they write dates: the browser's own kind of that language, else any.
const texts = JSON.parse(document.body.dataset.texts);
const language = document.documentElement.lang;
const rules = new Intl.PluralRules(language);

export const locale = navigator.languages.find((one) => one.split("-")[0] === language) ?? language;

export function said(name, values = {}) {
  const found = texts[name];
  const text = Array.isArray(found) ? found[rules.select(values.count) === "one" ? 0 : 1] : found;
  return text.replace(/%\((\w+)\)s/g, (_, key) => values[key]);
}
