// Suggests whom a note may name once an @ is typed: a list below the field, by arrows, Enter or Tab, or the pointer.
// A field of several lines may not have the role combobox; it has the rest of that pattern.
const MOST = 6; // names at once
const TYPED = /(?:^|[^\p{L}\p{N}_])@([^\s@]*(?: [^\s@]+)?)$/u;
const plain = (text) => text.normalize("NFKC").toLocaleLowerCase();

class MentionBox extends HTMLElement {
  connectedCallback() {
    if (this.list) return;
    this.field = this.querySelector("textarea");
    this.names = JSON.parse(this.dataset.names);
    this.list = document.createElement("ul");
    Object.assign(this.list, { id: `${this.field.id}-names`, role: "listbox", ariaLabel: this.dataset.label, hidden: true });
    this.append(this.list);
    for (const [name, value] of [["autocomplete", "list"], ["haspopup", "listbox"], ["controls", this.list.id]]) this.field.setAttribute(`aria-${name}`, value);
    this.field.addEventListener("input", () => this.suggest());
    this.field.addEventListener("keydown", (event) => this.key(event));
    this.field.addEventListener("blur", () => this.close());
    this.list.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
    this.list.addEventListener("click", (event) => this.take(event.target.closest("li")));
  }

  get typed() {
    const { selectionStart, selectionEnd, value } = this.field;
    return selectionStart === selectionEnd ? TYPED.exec(value.slice(0, selectionEnd))?.[1] : undefined;
  }

  suggest() {
    const typed = this.typed;
    const begins = (name) => plain(name).startsWith(plain(typed)) || plain(name).split(/\s+/).some((word) => word.startsWith(plain(typed)));
    const found = typed === undefined ? [] : this.names.filter(begins).slice(0, MOST);
    if (!found.length || (found.length === 1 && plain(found[0]) === plain(typed))) { this.close(); return; }
    this.list.replaceChildren(...found.map((name, at) => Object.assign(document.createElement("li"), { id: `${this.list.id}-${at}`, role: "option", textContent: name })));
    if (this.list.hidden) document.getElementById("announce").textContent = this.dataset.label;
    this.list.hidden = false;
    this.choose(this.list.firstChild);
  }

  choose(option) {
    for (const one of this.list.children) one.ariaSelected = String(one === option);
    this.field.setAttribute("aria-activedescendant", option.id);
  }

  take(option) {
    if (!option) return;
    const end = this.field.selectionEnd;
    this.field.setRangeText(`${option.textContent} `, end - this.typed.length, end, "end");
    this.close();
  }

  key(event) {
    if (this.list.hidden || event.isComposing) return;
    const chosen = this.list.querySelector("[aria-selected=true]");
    if (event.key === "ArrowDown") this.choose(chosen.nextSibling ?? this.list.firstChild);
    else if (event.key === "ArrowUp") this.choose(chosen.previousSibling ?? this.list.lastChild);
    else if (event.key === "Enter" || event.key === "Tab") this.take(chosen);
    else if (event.key === "Escape") this.close();
    else return;
    event.preventDefault();
  }

  close() {
    this.list.hidden = true;
    this.field.removeAttribute("aria-activedescendant");
  }
}

customElements.define("mention-box", MentionBox);
