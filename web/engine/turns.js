// Operations one after another. Those that await the GPU would otherwise meet in the same crowd.

export class Turns {
  #last = Promise.resolve();

  /// Runs an operation after all earlier ones, and returns its result. An operation that fails does not stop the next.
  take(operation) {
    const result = this.#last.then(operation);
    this.#last = result.catch(() => {});
    return result;
  }
}
