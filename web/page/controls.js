// The controls of the crowd. They hold the settings; every change is announced at once.

import { countAt, nextCount } from "./count_scale.js";
import { formatCount, formatShare } from "./format.js";

const STEPS = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 };
const element = (id) => document.getElementById(id);

export class Controls {
  #instances = element("instances");
  #clip = element("clip");
  #clip2 = element("clip2");
  #figures = [...document.getElementsByName("figure")];
  #sliders = { share: element("share"), spread: element("spread"), speed: element("speed") };
  #clips = [];
  #speeds = { before: 1, now: 1 };
  #isCountSet = false;
  #onChange;

  /// `onChange` is called after each change, with the id of the control.
  constructor(onChange) {
    this.#onChange = onChange;
    for (const input of [this.#instances, this.#clip, this.#clip2, ...Object.values(this.#sliders)]) {
      input.addEventListener(input instanceof HTMLSelectElement ? "change" : "input", () => this.#changed(input.id));
    }
    for (const input of this.#figures) input.addEventListener("change", () => this.#changed("figure"));
    this.#instances.addEventListener("keydown", (event) => this.#step(event));
    this.#write();
  }

  /// The settings of the crowd.
  get settings() {
    const { share, spread, speed } = this.#sliders;
    return {
      count: countAt(this.#instances.valueAsNumber),
      clip: this.#clip.selectedIndex,
      clip2: this.#clip2.selectedIndex,
      share: share.valueAsNumber,
      spread: spread.valueAsNumber,
      speed: speed.valueAsNumber,
      figure: this.#figures.find(({ checked }) => checked).value,
    };
  }

  /// The speed before its last change, and now.
  get speeds() {
    return this.#speeds;
  }

  /// Sets the number of characters, without a call of `onChange`, unless it has been set already.
  suggestCount(count) {
    if (this.#isCountSet) return;
    this.#instances.value = String(Math.log10(count));
    this.#write();
  }

  /// Fills the lists with the clips of a file, and selects two and a figure.
  showClips(clips, { clip, clip2, figure }) {
    this.#clips = clips;
    for (const input of this.#figures) input.checked = input.value === figure;
    for (const [select, selected] of [[this.#clip, clip], [this.#clip2, clip2]]) {
      select.replaceChildren(...clips.map(({ name, leftOut }, index) => {
        const option = new Option(leftOut ? `${name} (left out)` : name, String(index));
        option.disabled = Boolean(leftOut);
        return option;
      }));
      select.selectedIndex = selected;
    }
    this.#write();
  }

  #changed(id) {
    this.#speeds = { before: this.#speeds.now, now: this.settings.speed };
    this.#isCountSet ||= id === "instances";
    this.#write();
    this.#onChange(id);
  }

  /// Moves the number of characters along round numbers.
  #step(event) {
    const direction = STEPS[event.key];
    if (!direction || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.#instances.value = String(Math.log10(nextCount(this.settings.count, direction)));
    this.#changed("instances");
  }

  #write() {
    this.#limitClip2();
    const { count, share, spread, speed } = this.settings;
    this.#say("instances", formatCount(count));
    this.#say("share", formatShare(share));
    this.#say("spread", formatShare(spread));
    this.#say("speed", `${speed.toFixed(2)} x`);
  }

  #say(id, text) {
    element(`${id}-text`).textContent = text;
    element(id).setAttribute("aria-valuetext", text);
  }

  /// A crowd has one skeleton: clips of others cannot be the second clip.
  #limitClip2() {
    const skeleton = this.#clips[this.#clip.selectedIndex]?.skeleton;
    for (const [index, option] of [...this.#clip2.options].entries()) {
      option.disabled = Boolean(this.#clips[index].leftOut) || this.#clips[index].skeleton !== skeleton;
    }
    if (this.#clip2.selectedOptions[0]?.disabled) this.#clip2.selectedIndex = this.#clip.selectedIndex;
  }
}
