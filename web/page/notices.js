// The notices of the page: at most one per topic, all in one element, which is empty while all is well.

export class Notices {
  #element;
  #texts = new Map();

  constructor(element) {
    this.#element = element;
  }

  /// Sets the notice of a topic; `null` clears it.
  set(topic, text) {
    if (text === null) this.#texts.delete(topic);
    else this.#texts.set(topic, text);
    this.#write();
  }

  clear() {
    this.#texts.clear();
    this.#write();
  }

  #write() {
    const text = [...this.#texts.values()].join("\n");
    if (this.#element.textContent !== text) this.#element.textContent = text;
  }
}
