// The clock of the crowd: it runs, or is held at a time. Page and worker each have one. Both take the time of the
// system, so that a copy of the state is all that they exchange.

const now = () => (performance.timeOrigin + performance.now()) / 1000;

export class Clock {
  #state = { time: 0, since: null };

  /// Seconds of the crowd's time.
  get time() {
    const { time, since } = this.#state;
    return since === null ? time : time + now() - since;
  }

  get isHeld() {
    return this.#state.since === null;
  }

  /// Holds the clock at a time.
  hold(time = this.time) {
    this.#state = { time, since: null };
  }

  /// Lets the clock run on from a time.
  run(time = this.time) {
    this.#state = { time, since: now() };
  }

  get state() {
    return this.#state;
  }

  set state(state) {
    this.#state = state;
  }
}
