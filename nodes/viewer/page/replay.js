// The bar of a replay: where in the recording, back and forward, picture by picture.

const FRAME = 0.02; // [s] from picture to picture
const INTERVAL = 100; // between two jumps while the slider is dragged [ms]

export class Replay {
  /**
   * @param {HTMLElement} part has the bar.
   * @param {function} order sends an order: its type and its fields.
   */
  constructor(part, order) {
    Object.assign(this, { part, order, slider: part.querySelector("input"), dragged: false, wanted: null, timer: 0 });
    this.backward = part.querySelector(".backward");
    this.slider.addEventListener("input", () => this.drag(this.slider.valueAsNumber));
    this.slider.addEventListener("change", () => (this.dragged = false));
    this.backward.addEventListener("click", () => order("backward", { value: !this.state.backward }));
    part.querySelector(".before").addEventListener("click", () => this.frame(-1));
    part.querySelector(".after").addEventListener("click", () => this.frame(1));
  }

  /** Shows the state of the page; without a replay there is no bar. */
  show(message) {
    this.state = message.replay;
    this.part.hidden = !this.state;
    document.body.classList.toggle("replays", Boolean(this.state));
    if (!this.state) return;
    this.time = message.time;
    this.slider.max = this.state.end;
    if (!this.dragged && this.wanted === null) this.slider.value = message.time;
    const ended = message.paused && message.time >= this.state.end - 1e-6;
    this.part.querySelector("output").textContent = `${message.time.toFixed(2)} of ${this.state.end.toFixed(2)} s`;
    this.part.querySelector(".verdict").textContent = ended ? `The end. ${this.state.text}` : this.state.text;
    this.part.classList.toggle("bad", this.state.different);
    this.backward.setAttribute("aria-pressed", String(this.state.backward));
  }

  /** Goes where the slider is, at most so often; the last place counts. */
  drag(time) {
    this.dragged = true;
    this.wanted = time;
    if (this.timer) return;
    const go = () => {
      this.timer = 0;
      if (this.wanted === null) return;
      this.order("seek", { time: this.wanted });
      this.wanted = null;
      this.timer = setTimeout(go, INTERVAL);
    };
    go();
  }

  /** One picture on or back; it pauses. */
  frame(way) {
    this.order("pause", { value: true });
    this.order("seek", { time: Math.min(Math.max(this.time + way * FRAME, 0), this.state.end) });
  }
}
