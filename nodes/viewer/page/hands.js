// What the user's hands do: virtual sticks, sliders, keys and a game controller, as positions of levers and buttons.

const STICK_REACH = 0.43; // way of a stick from its middle, as a share of its plate's width
const PAD_DEAD_BAND = 0.08; // so that a game controller at rest leaves the other levers to the mouse
// Buttons of the browser's standard game controller -> those of ROS's game_controller_node.
const PAD_BUTTONS = { 0: 0, 1: 1, 2: 2, 3: 3, 4: 9, 5: 10, 8: 4, 9: 6, 10: 7, 11: 8, 12: 11, 13: 12, 14: 13, 15: 14 };
const DEAD_MAN = 9; // the left shoulder
const DRIVE_KEYS = {
  KeyW: [1, 0], ArrowUp: [1, 0], KeyS: [-1, 0], ArrowDown: [-1, 0],
  KeyA: [0, 1], ArrowLeft: [0, 1], KeyD: [0, -1], ArrowRight: [0, -1],
};

const clamp = (value) => Math.min(Math.max(value, -1), 1);

export class Hands {
  constructor() {
    this.axes = [0, 0, 0, 0, 0, 0];
    this.drive = [0, 0];
    this.sliders = {};
    this.buttons = new Set();
    this.keys = new Set();
    this.enable = false; // the switch
    this.sticks = []; // their first axis, and how their ball is placed
    this.letGos = new Map(); // element -> function that brings its lever back to neutral
  }

  /** Makes a stick of an element; `move` takes its deflection to the left and ahead. */
  stick(element, move) {
    const plate = element.querySelector(".plate");
    const ball = element.querySelector(".ball");
    const place = (left, ahead) => {
      const reach = STICK_REACH * plate.clientWidth;
      ball.style.transform = `translate(${-left * reach}px, ${-ahead * reach}px)`;
    };
    const set = (left, ahead) => {
      place(left, ahead);
      move(left, ahead);
    };
    if (element.dataset.axes) this.sticks.push([parseInt(element.dataset.axes), place]);
    const follow = (event) => {
      const box = plate.getBoundingClientRect();
      const reach = STICK_REACH * box.width;
      const x = (event.clientX - box.left - box.width / 2) / reach;
      const y = (event.clientY - box.top - box.height / 2) / reach;
      const length = Math.max(1, Math.hypot(x, y));
      set(-x / length, -y / length);
    };
    this.drag(plate, follow, () => set(0, 0));
  }

  /** Makes a slider spring back. */
  slider(input, name, show) {
    const set = (value) => {
      input.value = value;
      if (Number(value)) this.sliders[name] = clamp(Number(value));
      else delete this.sliders[name];
      show(Number(value));
    };
    input.addEventListener("input", () => set(input.value));
    for (const type of ["pointerup", "pointercancel", "change", "blur", "keyup"]) {
      input.addEventListener(type, () => set(0));
    }
    this.letGos.set(input, () => set(0));
  }

  /** Makes a button of the page one of the joystick's, pressed while it is held. */
  hold(element, number) {
    this.drag(element, () => this.buttons.add(number), () => this.buttons.delete(number));
  }

  drag(element, follow, letGo) {
    let pointer = null;
    const end = (event) => {
      if (event && event.pointerId !== pointer) return;
      pointer = null;
      letGo();
    };
    element.addEventListener("pointerdown", (event) => {
      if (pointer !== null) return;
      pointer = event.pointerId;
      element.setPointerCapture(pointer);
      event.preventDefault();
      follow(event);
    });
    element.addEventListener("pointermove", (event) => event.pointerId === pointer && follow(event));
    for (const type of ["pointerup", "pointercancel", "lostpointercapture"]) element.addEventListener(type, end);
    this.letGos.set(element, () => end(null));
  }

  /** Whether a key drives. */
  drives(code) {
    return code in DRIVE_KEYS;
  }

  /** All levers to neutral, and the switch off. */
  letGo() {
    this.enable = false;
    this.keys.clear();
    this.buttons.clear();
    for (const [element, letGo] of this.letGos) {
      letGo();
      if (!element.isConnected) this.letGos.delete(element);
    }
  }

  /** The game controller that is connected, if any. */
  pad() {
    return [...(navigator.getGamepads?.() ?? [])].find((pad) => pad?.mapping === "standard") ?? null;
  }

  /** The message of what the hands do now; the sticks show it, too. */
  message() {
    const axes = [...this.axes];
    const buttons = new Set(this.buttons);
    let enable = this.enable;
    const pad = this.pad();
    if (pad) {
      pad.axes.slice(0, 4).forEach((value, axis) => {
        if (Math.abs(value) > PAD_DEAD_BAND) axes[axis] = clamp(-value); // a browser has the right and the back positive
      });
      pad.buttons.forEach((button, number) => {
        const ours = PAD_BUTTONS[number];
        if (button.pressed && ours === DEAD_MAN) enable = true;
        else if (button.pressed && ours !== undefined) buttons.add(ours);
      });
    }
    for (const [axis, place] of this.sticks) place(axes[axis], axes[axis + 1]);
    let [ahead, left] = this.drive;
    for (const key of this.keys) {
      ahead += DRIVE_KEYS[key][0];
      left += DRIVE_KEYS[key][1];
    }
    return {
      enable, axes, buttons: [...buttons], sliders: { ...this.sliders }, ahead: clamp(ahead), left: clamp(left),
    };
  }
}
