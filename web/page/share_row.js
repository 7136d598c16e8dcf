// The row that offers a result as a link and as Markdown.

import { linkOf, markdownOf } from "./share.js";

const element = (id) => document.getElementById(id);
const [row, link, copied, markdown] = ["result-row", "result-link", "copied", "markdown"].map(element);

export class ShareRow {
  #parts = {};
  #about;

  /// `about` returns what a result says of page and browser: `posse`, `browser` and `began`.
  constructor(about) {
    this.#about = about;
    element("copy").addEventListener("click", () => this.#copy());
  }

  /// Offers a part of the result, `check` or `measure`; `null` takes it away.
  set(part, value) {
    if (value === null) delete this.#parts[part];
    else this.#parts[part] = value;
    const isEmpty = Object.keys(this.#parts).length === 0;
    row.hidden = isEmpty;
    copied.textContent = "";
    markdown.hidden = true;
    link.href = isEmpty ? "#" : linkOf(this.#result);
  }

  /// True if the fragment of the page is that of this result.
  isAt(fragment) {
    return !row.hidden && link.hash === fragment;
  }

  get #result() {
    return { ...this.#about(), ...this.#parts };
  }

  async #copy() {
    const text = markdownOf(this.#result, link.href);
    try {
      await navigator.clipboard.writeText(text);
      copied.textContent = "Copied.";
    } catch {
      // Without permission, the text can be copied by hand.
      markdown.value = text;
      markdown.hidden = false;
      markdown.select();
      copied.textContent = "Copy it from here:";
    }
  }
}
