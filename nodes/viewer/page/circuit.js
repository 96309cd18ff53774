// The hydraulic circuit: its drawing, with the pressures, flows and spools of now; a drag on a valve commands it.

const REACH = 80; // way of a drag to full deflection [px]
const [READABLE, LARGE] = [0.6, 1.5]; // limits of the size at first, of the drawing's own
const [SMALLEST, LARGEST] = [0.2, 6]; // of any size
const NAMESPACE = "http://www.w3.org/2000/svg";
const [DASH, SPEED] = [12, 60]; // period of the dashes of a flow, and their speed in the largest flow [of the drawing's own]
const SLOWEST = 1.5; // speed of any flow that is shown [of the drawing's own]
const [LEAST, SMALL] = [0.05, 1]; // flows that do not show, and that are never the largest [l/min]

export class Circuit {
  /**
   * @param {Element} panel has an element .drawing for the drawing.
   * @param {Hands} hands that command.
   * @param {function} wanted is told when a drag begins.
   */
  constructor(panel, hands, wanted) {
    this.place = panel.querySelector(".drawing");
    this.legend = panel.querySelector(".legend");
    this.hands = hands;
    this.wanted = wanted;
    this.zoom = 1;
    this.lines = new Map();
    this.elements = new Map();
    this.largest = SMALL; // flow of a line so far [l/min]
    this.levers = new Set(); // names of the valves and drives that can be commanded
  }

  /** Draws the circuit of a message. */
  draw({ svg, problem, valves, scale, colours }) {
    Object.assign(this, { valves, scale, colours, lines: new Map(), elements: new Map(), largest: SMALL });
    this.place.replaceChildren();
    if (!svg) {
      this.place.textContent = problem;
      return;
    }
    const drawn = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    drawn.removeAttribute("width");
    drawn.removeAttribute("height");
    this.place.append(drawn);
    this.collect("line-", this.lines, (groups) => line(groups));
    this.collect("element-", this.elements, ([group], name) => this.element(group, name));
    this.zoom = Math.max(READABLE, Math.min(LARGE, this.place.clientWidth / drawn.viewBox.baseVal.width));
    this.enlarge(1);
    const stops = colours.map((colour) => `rgb(${colour})`).join();
    this.legend.style.background = `linear-gradient(to right, ${stops})`;
    this.legend.textContent = `0 to ${Math.round(scale)} bar`;
  }

  collect(prefix, found, make) {
    const groups = new Map();
    for (const group of this.place.querySelectorAll(`[id^="${prefix}"]`)) {
      const name = group.id.slice(prefix.length);
      groups.set(name, [...(groups.get(name) ?? []), group]);
    }
    for (const [name, members] of groups) found.set(name, make(members, name));
  }

  element(group, name) {
    const box = group.getBBox();
    const spool = group.querySelector(".spool");
    const valve = this.valves[name] ?? name;
    if (this.levers.has(valve)) {
      group.classList.add("lever");
      // A group of an SVG has no touch-action: a finger would scroll the drawing.
      group.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
      let start = 0;
      const follow = (event) => {
        if (event.type === "pointerdown") {
          start = event.clientX;
          this.wanted();
        }
        const way = Math.max(-1, Math.min(1, (event.clientX - start) / REACH));
        if (way) this.hands.sliders[valve] = way;
        group.classList.add("held");
      };
      this.hands.drag(group, follow, () => {
        delete this.hands.sliders[valve];
        group.classList.remove("held");
      });
    }
    return { text: group.querySelector(".value") ?? text(group, box.x + box.width / 2, box.y + box.height + 10), spool, side: (spool?.getBBox().width ?? 0) / 3 };
  }

  /** Shows the values of a message. */
  show({ lines, ports, spools, flows }) {
    this.largest = Math.max(this.largest, ...Object.values(lines).map(([, flow]) => flow));
    for (const [name, { strokes, label, parts, title }] of this.lines) {
      if (!(name in lines)) continue;
      const [pressure, flow] = lines[name];
      const colour = this.colour(pressure);
      for (const stroke of strokes) stroke.style.stroke = colour;
      const values = `${Math.round(pressure)} bar ${flow.toFixed(1)} l/min`;
      if (label) label.textContent = values;
      title.textContent = `${name}: ${values}`;
      for (const part of parts) this.move(part, ports);
    }
    for (const [name, { text, spool, side }] of this.elements) {
      if (name in spools) {
        text.textContent = `${Math.round(100 * spools[name])} %`;
        spool?.setAttribute("transform", `translate(${spools[name] * side} 0)`);
      } else if (name in flows) {
        text.textContent = `${flows[name].toFixed(1)} l/min`;
      }
    }
  }

  /** Moves the dashes of a part of a line by what the ports beyond it take; hides them where nothing flows. */
  move({ path, names, motion }, ports) {
    const flow = names.reduce((sum, name) => sum + (ports[name] ?? 0), 0);
    const speed = Math.abs(flow) < LEAST ? 0 : Math.max(SLOWEST, (SPEED * Math.abs(flow)) / this.largest);
    const rate = (Math.sign(flow) * speed) / DASH;
    path.classList.toggle("flows", rate !== 0);
    if (!rate) motion.pause();
    else {
      motion.updatePlaybackRate(rate);
      if (motion.playState !== "running") motion.play();
    }
  }

  colour(pressure) {
    const place = Math.max(0, Math.min(1, pressure / this.scale)) * (this.colours.length - 1);
    const first = Math.min(Math.floor(place), this.colours.length - 2);
    const mixed = this.colours[first].map((one, at) => one + (place - first) * (this.colours[first + 1][at] - one));
    return `rgb(${mixed.map(Math.round)})`;
  }

  /** Makes the drawing larger or smaller. */
  enlarge(factor) {
    this.zoom = Math.max(SMALLEST, Math.min(LARGEST, this.zoom * factor));
    const drawn = this.place.firstElementChild;
    if (drawn) drawn.style.width = `${this.zoom * drawn.viewBox.baseVal.width}px`;
  }
}

/** The strokes of a line, the place of its values where there is room, its title, and its parts with a flow each. */
function line(groups) {
  const find = (selector) => groups.flatMap((group) => [...group.querySelectorAll(selector)]);
  const parts = find(".flow").map((path) => ({ path, names: JSON.parse(path.dataset.ports), motion: dashes(path) }));
  return { strokes: find("path:not(.flow)"), label: find(".value")[0], title: find("title")[0], parts };
}

/** Dashes that move forward by one period a second at the rate 1; without end in both directions. */
function dashes(path) {
  path.style.strokeDasharray = `3 ${DASH - 3}`;
  const motion = path.animate({ strokeDashoffset: [DASH, 0] }, { duration: 1000, iterations: Infinity });
  motion.pause();
  motion.currentTime = 1e9; // a motion backwards ends at the time 0
  return motion;
}

function text(parent, x, y) {
  const made = document.createElementNS(NAMESPACE, "text");
  made.setAttribute("x", x);
  made.setAttribute("y", y);
  made.setAttribute("class", "value");
  parent.append(made);
  return made;
}
