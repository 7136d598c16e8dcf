// The frame loop. At most two frames are under way on the GPU; if it is slower than the display, frames wait. A software
// renderer gets one: it draws the window of the browser too, which comes between two frames.

const [MAX_UNDER_WAY, MAX_UNDER_WAY_IN_SOFTWARE] = [2, 1];
/// Milliseconds between two reports.
const REPORT = 500;
/// Milliseconds between two measurements of the GPU time. Each poses the crowd once more.
const MEASUREMENT = 1000;

const next = (step) => (globalThis.requestAnimationFrame ? requestAnimationFrame(step) : setTimeout(step, 16));

export class Frames {
  /// True while the picture stands still, so that the GPU is free for a measurement.
  isPaused = false;
  #camera = null;
  #stage;
  #clock;
  #report;
  #size = null;
  /// The time of the last frame; `null` if something else has changed since.
  #drawnAt = null;
  #underWay = 0;
  #maxUnderWay;
  #total = 0;
  #window = { from: performance.now(), frames: 0 };
  #gpuTime = { from: 0, isUnderWay: false, nanoseconds: undefined };
  #isStopped = false;

  /// `report` is called with frames per second (without them while the crowd is held), GPU time and the number of all
  /// frames.
  constructor(stage, clock, report) {
    this.#stage = stage;
    this.#clock = clock;
    this.#report = report;
    this.#maxUnderWay = stage.gpu.isSoftware ? MAX_UNDER_WAY_IN_SOFTWARE : MAX_UNDER_WAY;
  }

  start() {
    next(() => this.#step());
  }

  stop() {
    this.#isStopped = true;
  }

  /// The camera of the next frame.
  set camera(camera) {
    this.#camera = camera;
    this.#stage.camera = camera;
    this.#drawnAt = null;
  }

  /// Sets the size of the picture in pixels, from the next frame on.
  resize(width, height) {
    this.#size = [width, height];
  }

  #step() {
    if (this.#isStopped) return;
    this.start();
    this.#reportIfDue();
    if (this.isPaused || !this.#camera || !this.#stage.isDrawable || this.#underWay >= this.#maxUnderWay) return;
    if (this.#size) this.#stage.resize(...this.#size);
    this.#size = null;
    const { time } = this.#clock;
    if (time === this.#drawnAt && !this.#stage.hasChanged) return this.#rest();
    this.#drawnAt = time;
    if (!this.#stage.draw(time, this.#camera)) return;
    this.#underWay += 1;
    // Of a lost device the promise may be rejected; then the loop is stopped from outside.
    const land = () => this.#land();
    this.#stage.gpu.device.queue.onSubmittedWorkDone().then(land, land);
    this.#measureIfDue();
  }

  /// A held crowd needs no frame. The time of the rest does not count as that of a slow frame.
  #rest() {
    if (this.#underWay > 0) return;
    if (this.#window.frames > 0) this.#report({ gpuNanoseconds: this.#gpuTime.nanoseconds, frames: this.#total });
    this.#window = { from: performance.now(), frames: 0 };
  }

  #land() {
    this.#underWay -= 1;
    this.#total += 1;
    this.#window.frames += 1;
  }

  #reportIfDue() {
    const now = performance.now();
    const { from, frames } = this.#window;
    if (now - from < REPORT || (frames === 0 && !this.isPaused)) return;
    const fps = this.isPaused ? null : (1000 * frames) / (now - from);
    this.#report({ fps, gpuNanoseconds: this.#gpuTime.nanoseconds, frames: this.#total });
    this.#window = { from: now, frames: 0 };
  }

  #measureIfDue() {
    const now = performance.now();
    const measured = this.#gpuTime;
    if (measured.isUnderWay || measured.nanoseconds === null || now - measured.from < MEASUREMENT) return;
    measured.isUnderWay = true;
    this.#stage
      .gpuTime(this.#clock.time)
      .then((nanoseconds) => (measured.nanoseconds = nanoseconds ?? null), () => {})
      .finally(() => {
        measured.isUnderWay = false;
        measured.from = performance.now();
      });
  }
}
