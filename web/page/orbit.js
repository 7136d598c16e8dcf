// The camera: it turns round the crowd by mouse, touch and keys.

const TURN = 0.008; // radians per CSS pixel
const KEY_TURN = 0.1; // radians per key press
const KEY_ZOOM = 1.15;
const START = { yaw: 0.6, pitch: 0.35, zoom: 1, shift: [0, 0] };
const limit = (value, low, high) => Math.min(Math.max(value, low), high);

export class Orbit {
  #view = structuredClone(START);
  #fit = { distance: 5, target: [0, 1, 0] };
  #pointers = new Map();
  #surface;
  #onChange;

  /// Listens to an element. `onChange` is called with the camera after each change.
  constructor(surface, onChange) {
    this.#surface = surface;
    this.#onChange = onChange;
    surface.addEventListener("pointerdown", (event) => this.#press(event));
    surface.addEventListener("pointermove", (event) => this.#drag(event));
    for (const name of ["pointerup", "pointercancel"]) {
      surface.addEventListener(name, (event) => this.#pointers.delete(event.pointerId));
    }
    surface.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    surface.addEventListener("keydown", (event) => this.#key(event));
    surface.addEventListener("dblclick", () => this.reset());
  }

  /// The camera of the worker's view.
  get camera() {
    const { yaw, pitch, zoom, shift } = this.#view;
    const distance = this.#fit.distance * zoom;
    const [x, y, z] = this.#fit.target;
    // Sideways and upwards as the camera sees them, in units of the distance.
    const side = shift[0] * this.#fit.distance;
    const target = [x + side * Math.cos(yaw), y + shift[1] * this.#fit.distance, z - side * Math.sin(yaw)];
    return { yaw, pitch, distance, target };
  }

  /// Distance and target that show the whole crowd. Zoom and direction stay.
  set fit(fit) {
    this.#fit = fit;
    this.#onChange(this.camera);
  }

  /// Shows the whole crowd from the first direction.
  reset() {
    this.#view = structuredClone(START);
    this.#onChange(this.camera);
  }

  #press(event) {
    this.#surface.setPointerCapture(event.pointerId);
    this.#pointers.set(event.pointerId, [event.clientX, event.clientY]);
  }

  #drag(event) {
    const before = this.#pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    this.#pointers.set(event.pointerId, now);
    const other = [...this.#pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      // Each of two fingers moves the middle by half of its own way.
      this.#move(dx / 2, dy / 2);
      const span = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]);
      this.#zoom(span(before) / Math.max(span(now), 1));
    } else if (event.shiftKey || event.buttons === 2 || event.buttons === 4) {
      this.#move(dx, dy);
    } else {
      this.#turn(-dx * TURN, dy * TURN);
    }
  }

  #wheel(event) {
    event.preventDefault();
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY : 16 * event.deltaY;
    // A pinch on a touchpad arrives as a wheel with Control, in smaller steps.
    this.#zoom(Math.exp(limit(pixels * (event.ctrlKey ? 0.01 : 0.0015), -1, 1)));
  }

  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const actions = {
      ArrowLeft: () => this.#turn(-KEY_TURN, 0),
      ArrowRight: () => this.#turn(KEY_TURN, 0),
      ArrowUp: () => this.#turn(0, KEY_TURN),
      ArrowDown: () => this.#turn(0, -KEY_TURN),
      "+": () => this.#zoom(1 / KEY_ZOOM),
      "=": () => this.#zoom(1 / KEY_ZOOM),
      "-": () => this.#zoom(KEY_ZOOM),
      0: () => this.reset(),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  }

  #turn(yaw, pitch) {
    this.#view.yaw += yaw;
    this.#view.pitch = limit(this.#view.pitch + pitch, -0.1, 1.5);
    this.#onChange(this.camera);
  }

  #zoom(factor) {
    this.#view.zoom = limit(this.#view.zoom * factor, 0.002, 4);
    this.#onChange(this.camera);
  }

  #move(dx, dy) {
    const scale = this.#view.zoom / Math.max(this.#surface.clientHeight, 1);
    this.#view.shift[0] -= dx * scale;
    this.#view.shift[1] += dy * scale;
    this.#onChange(this.camera);
  }
}
