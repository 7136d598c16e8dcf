// Operations one after another. Those that await the GPU would otherwise meet in the same crowd.

export class Turns {
  #last = Promise.resolve();
  #waiting = 0;
  /// The operation at the end of the queue, if a later one may take its place.
  #replaceable = null;

  /// True while an operation is under way or waits.
  get isBusy() {
    return this.#waiting > 0;
  }

  /// Runs an operation after all earlier ones, and returns its result. An operation that fails does not stop the next.
  take(operation) {
    this.#waiting += 1;
    this.#replaceable = null;
    const result = this.#last.then(operation);
    this.#last = result.catch(() => {}).finally(() => (this.#waiting -= 1));
    return result;
  }

  /// As `take`. If the operation directly before came by this function too and has not begun, it is left out: its call
  /// returns without a result.
  takeLatest(operation) {
    const turn = { isOutdated: false };
    if (this.#replaceable) this.#replaceable.isOutdated = true;
    const result = this.take(() => {
      if (turn.isOutdated) return undefined;
      if (this.#replaceable === turn) this.#replaceable = null;
      return operation();
    });
    this.#replaceable = turn;
    return result;
  }
}
