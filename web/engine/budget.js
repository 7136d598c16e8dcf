// The number of characters that a software renderer draws. It grows in steps, each with a picture that is timed, and ends
// where a picture would take longer than its budget. A crowd that takes a minute per picture would stop the whole browser:
// its windows are drawn by the same renderer.

/// Milliseconds of a picture, and the times of the first step that a slower machine gets.
const [BUDGET, FIRST_STEPS] = [700, 1.25];
/// The largest factor of a step, and that of one from a picture beyond the budget.
const [GROWTH, SLOW_GROWTH] = [4, 2];
/// The times of the budget that a picture may take before the crowd shrinks again.
const TOLERANCE = 1.4;

export class Budget {
  /// The timed pictures, by growing `count`, each with its `milliseconds`.
  #timed = [];
  /// The most characters.
  #limit = Infinity;
  #first;

  /// `first` is the number of characters of the first step, which is drawn untried: infinite for a GPU.
  constructor(first) {
    this.#first = first;
  }

  /// The number of characters to draw next, on the way to `wanted`.
  next(wanted) {
    return Math.min(wanted, this.#limit, this.#timed.length > 0 ? this.#reach : this.#first);
  }

  /// True if a picture of this number of characters is to be timed before more are drawn.
  isUntimed(count) {
    return count >= this.#first && count > (this.#timed.at(-1)?.count ?? 0);
  }

  /// Adds the time of a picture.
  add(count, milliseconds) {
    const before = this.#timed.at(-1);
    if (before && milliseconds > TOLERANCE * this.#budget) {
      const perCharacter = (milliseconds - before.milliseconds) / (count - before.count);
      this.#limit = before.count + Math.max(0, Math.floor((this.#budget - before.milliseconds) / perCharacter));
    } else {
      this.#timed.push({ count, milliseconds });
      if (this.#reach <= count) this.#limit = count;
    }
  }

  get #budget() {
    return Math.max(BUDGET, FIRST_STEPS * this.#timed[0].milliseconds);
  }

  /// The most characters of the next step.
  get #reach() {
    const [last, before] = [this.#timed.at(-1), this.#timed.at(-2)];
    const most = last.count * (last.milliseconds > BUDGET ? SLOW_GROWTH : GROWTH);
    const perCharacter = before ? (last.milliseconds - before.milliseconds) / (last.count - before.count) : 0;
    // Times vary, so that one that has not grown says nothing.
    if (perCharacter <= 0) return most;
    return Math.min(most, last.count + Math.floor((this.#budget - last.milliseconds) / perCharacter));
  }
}
