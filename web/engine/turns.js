// Operations one after another. Those that await the GPU would otherwise meet in the same crowd.

export class Turns {
  #last = Promise.resolve();
  #waiting = 0;

  /// True while an operation is under way or waits.
  get isBusy() {
    return this.#waiting > 0;
  }

  /// Runs an operation after all earlier ones, and returns its result. An operation that fails does not stop the next.
  take(operation) {
    this.#waiting += 1;
    const result = this.#last.then(operation);
    this.#last = result.catch(() => {}).finally(() => (this.#waiting -= 1));
    return result;
  }
}
