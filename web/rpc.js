// Calls between the page and its worker. Each call is a message with a number, and its answer bears the same number.
// Messages without a number are announcements, which have no answer.

/// Text of anything that was thrown.
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/// True for an error that stops the WebAssembly: a panic, or no memory. Its objects cannot be used any more, not even
/// freed.
export function isFatal(error) {
  return error instanceof WebAssembly.RuntimeError;
}

/// Answers the calls of the other side by the functions of `table`. Errors that stop the WebAssembly are not answered
/// but thrown, and so become an unhandled rejection.
export function answer(port, table) {
  port.addEventListener("message", async ({ data }) => {
    if (!(data.name in table)) return;
    try {
      const value = await table[data.name](...data.values);
      if (data.call !== undefined) port.postMessage({ answers: data.call, value });
    } catch (error) {
      if (data.call === undefined || isFatal(error)) throw error;
      port.postMessage({ answers: data.call, error: messageOf(error) });
    }
  });
}

/// Sends an announcement.
export function announce(port, name, ...values) {
  port.postMessage({ name, values });
}

/// The calling side of a port.
export class Caller {
  #port;
  #waiting = new Map();
  #last = 0;
  #stopped = null;

  constructor(port) {
    this.#port = port;
    port.addEventListener("message", ({ data }) => this.#settle(data));
  }

  /// Calls a function of the other side. Values of `transfer` move there instead of being copied.
  call(name, values = [], transfer = []) {
    if (this.#stopped) return Promise.reject(new Error(this.#stopped));
    const call = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, { resolve, reject });
      this.#port.postMessage({ call, name, values }, transfer);
    });
  }

  /// Rejects all calls, those under way and those to come, with this reason.
  stop(reason) {
    this.#stopped = reason;
    for (const { reject } of this.#waiting.values()) reject(new Error(reason));
    this.#waiting.clear();
  }

  #settle({ answers, value, error }) {
    const waiting = this.#waiting.get(answers);
    if (!waiting) return;
    this.#waiting.delete(answers);
    if (error === undefined) waiting.resolve(value);
    else waiting.reject(new Error(error));
  }
}
