// What modules say in the page's language, and how they date.
const { lang } = document.documentElement;
const texts = JSON.parse(document.body.dataset.texts);
const forms = new Intl.PluralRules(lang);

export const locale = navigator.languages.find((one) => one.split("-")[0] === lang) ?? lang;

export function said(name, values = {}) {
  const found = texts[name];
  const text = found[forms.select(values.count)] ?? found.other ?? found;
  return text.replace(/%\((\w+)\)s/g, (_, key) => values[key]);
}
